// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary.hpp>

#include <concepts>
#include <cstddef>

/// The elementwise operations of expressions.
///
/// Each is a struct with value(a, b, ...), written once for numbers and vectors, and
/// slope<I>(y, a, b, ...), the derivative by operand I where y is the value. At a kink the slope is
/// the one that torch takes, but for clamp. What picks its operands has through<I>(d, y, a, b, ...)
/// instead: d times the slope, and 0 where operand I is not picked, also of an infinite d. Its name
/// is that of the function of tensors.
namespace tessera::op {

template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto constant_like(V, double c) -> V {
  return V(static_cast<lane::scalar_of<V>>(c));
}

namespace detail {
// What numbers and vectors overload; the structs below have the names.
template <class V> TESSERA_INLINE constexpr auto smaller(V a, V b) {
  using namespace lane;
  return min(a, b);
}
template <class V> TESSERA_INLINE constexpr auto larger(V a, V b) {
  using namespace lane;
  return max(a, b);
}
template <class V> TESSERA_INLINE constexpr auto magnitude(V a) {
  using namespace lane;
  return abs(a);
}
template <class V> TESSERA_INLINE constexpr auto root(V a) {
  using namespace lane;
  return sqrt(a);
}
}  // namespace detail

struct add {
  template <class V> TESSERA_INLINE static constexpr auto value(V a, V b) { return a + b; }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V, V) {
    return constant_like(y, 1);
  }
};
struct subtract {
  template <class V> TESSERA_INLINE static constexpr auto value(V a, V b) { return a - b; }
  template <std::size_t I, class V> TESSERA_INLINE static constexpr auto slope(V y, V, V) {
    return constant_like(y, I == 0 ? 1 : -1);
  }
};
struct multiply {
  template <class V> TESSERA_INLINE static constexpr auto value(V a, V b) { return a * b; }
  template <std::size_t I, class V> TESSERA_INLINE static constexpr auto slope(V, V a, V b) {
    return I == 0 ? b : a;
  }
};
struct divide {
  template <class V> TESSERA_INLINE static constexpr auto value(V a, V b) { return a / b; }
  template <std::size_t I, class V> TESSERA_INLINE static constexpr auto slope(V y, V, V b) {
    return I == 0 ? constant_like(y, 1) / b : -y / b;
  }
};
/// What softmax divides by its sum.
struct share : divide {};
struct negate {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) { return -a; }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V) {
    return constant_like(y, -1);
  }
};
struct min {
  template <class V> TESSERA_INLINE static constexpr auto value(V a, V b) {
    return detail::smaller(a, b);
  }
  /// Equal operands share the slope.
  template <std::size_t I, class D, class V>
  TESSERA_INLINE static constexpr auto through(D d, V, V a, V b) {
    using namespace lane;
    auto const less = I == 0 ? a < b : b < a;
    return select(a == b, d * constant_like(d, 0.5), select(less, d, constant_like(d, 0)));
  }
};
struct max {
  template <class V> TESSERA_INLINE static constexpr auto value(V a, V b) {
    return detail::larger(a, b);
  }
  template <std::size_t I, class D, class V>
  TESSERA_INLINE static constexpr auto through(D d, V, V a, V b) {
    using namespace lane;
    auto const greater = I == 0 ? a > b : b > a;
    return select(a == b, d * constant_like(d, 0.5), select(greater, d, constant_like(d, 0)));
  }
};
struct pow {
  template <class V> TESSERA_INLINE static constexpr auto value(V a, V b) {
    return lane::pow(a, b);
  }
  template <std::size_t I, class V> TESSERA_INLINE static constexpr auto slope(V y, V a, V b) {
    using namespace lane;
    auto const zero = constant_like(y, 0);
    if constexpr (I == 0)
      return select(b == zero, zero, b * lane::pow(a, b - constant_like(y, 1)));
    else
      return select(a == zero, zero, y * lane::log(a));
  }
};

struct abs {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) {
    return detail::magnitude(a);
  }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V a) {
    using namespace lane;
    auto const zero = constant_like(y, 0);
    return select(a > zero, constant_like(y, 1), select(a < zero, constant_like(y, -1), zero));
  }
};
struct square {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) { return a * a; }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V a) {
    return constant_like(y, 2) * a;
  }
};
struct sqrt {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) { return detail::root(a); }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V) {
    return constant_like(y, 0.5) / y;
  }
};
/// The root of a sum of squares: as torch's norm, with the slope 0 where it is 0.
struct length {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) { return detail::root(a); }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V) {
    using namespace lane;
    auto const zero = constant_like(y, 0);
    return select(y == zero, zero, constant_like(y, 0.5) / y);
  }
};
struct rsqrt {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) { return lane::rsqrt(a); }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V a) {
    return constant_like(y, -0.5) * y / a;
  }
};
struct exp {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) { return lane::exp(a); }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V) { return y; }
};
struct expm1 {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) { return lane::expm1(a); }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V) {
    return y + constant_like(y, 1);
  }
};
struct log {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) { return lane::log(a); }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V a) {
    return constant_like(y, 1) / a;
  }
};
struct log1p {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) { return lane::log1p(a); }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V a) {
    return constant_like(y, 1) / (a + constant_like(y, 1));
  }
};
struct tanh {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) { return lane::tanh(a); }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V) {
    return constant_like(y, 1) - y * y;
  }
};
struct sigmoid {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) { return lane::sigmoid(a); }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V) {
    return y * (constant_like(y, 1) - y);
  }
};
struct relu {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) { return lane::relu(a); }
  template <std::size_t, class D, class V>
  TESSERA_INLINE static constexpr auto through(D d, V y, V) {
    using namespace lane;
    return select(y <= constant_like(y, 0), constant_like(d, 0), d);
  }
};
struct silu {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) { return lane::silu(a); }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V a) {
    auto const s = lane::sigmoid(a);
    return s + y * (constant_like(y, 1) - s);
  }
};
struct gelu {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) { return lane::gelu(a); }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V, V a) {
    return lane::gelu_slope(a);
  }
};
struct gelu_tanh {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) { return lane::gelu_tanh(a); }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V, V a) {
    return lane::gelu_tanh_slope(a);
  }
};
struct softplus {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) { return lane::softplus(a); }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V, V a) {
    using namespace lane;
    return select(a > constant_like(a, 20), constant_like(a, 1), lane::sigmoid(a));
  }
};
struct erf {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) { return lane::erf(a); }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V a) {
    return constant_like(y, 1.1283791670955126) * lane::exp(-a * a);  // 2 / sqrt(pi)
  }
};
struct sin {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) { return lane::sin(a); }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V, V a) {
    return lane::cos(a);
  }
};
struct cos {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) { return lane::cos(a); }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V, V a) {
    return -lane::sin(a);
  }
};
/// min(max(a, low), high): NaN stays, the slope is 1 from low to high, both included (torch 2.15
/// has 0 at both). Where low is above high, it is high.
struct clamp {
  template <class V> TESSERA_INLINE static constexpr auto value(V a, V low, V high) {
    return detail::smaller(high, detail::larger(low, a));
  }
  template <std::size_t I, class D, class V>
  TESSERA_INLINE static constexpr auto through(D d, V, V a, V low, V high) {
    using namespace lane;
    auto const zero = constant_like(d, 0);
    if constexpr (I == 0)
      return select(a >= low, select(a <= high, d, zero), zero);
    else if constexpr (I == 1)
      return select(a < low, select(low < high, d, zero), zero);
    else
      return select(a > high, d, select(high < low, d, zero));
  }
};
struct where {
  template <class M, class V> TESSERA_INLINE static constexpr auto value(M condition, V a, V b) {
    using namespace lane;
    return select(condition, a, b);
  }
  template <std::size_t I, class D, class M, class V>
  TESSERA_INLINE static constexpr auto through(D d, V, M condition, V, V) {
    using namespace lane;
    auto const zero = constant_like(d, 0);
    return I == 1 ? select(condition, d, zero) : select(condition, zero, d);
  }
};

// Comparisons have no slope.
struct less {
  template <class V> TESSERA_INLINE static constexpr auto value(V a, V b) { return a < b; }
};
struct less_equal {
  template <class V> TESSERA_INLINE static constexpr auto value(V a, V b) { return a <= b; }
};
struct equal {
  template <class V> TESSERA_INLINE static constexpr auto value(V a, V b) { return a == b; }
};
struct not_equal {
  template <class V> TESSERA_INLINE static constexpr auto value(V a, V b) { return a != b; }
};
struct both {
  template <class M> TESSERA_INLINE static constexpr auto value(M a, M b) { return a && b; }
};
struct either {
  template <class M> TESSERA_INLINE static constexpr auto value(M a, M b) { return a || b; }
};
struct inverse {
  template <class M> TESSERA_INLINE static constexpr auto value(M a) { return !a; }
};
template <class To> struct cast {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) {
    using namespace lane;
    if constexpr (requires { requires std::same_as<typename traits<V>::scalar, To>; })
      return a;
    else if constexpr (requires { typename traits<V>::chosen; })  // the truths of a vector
      return truths_as<typename traits<V>::chosen>(a);
    else if constexpr (std::same_as<To, bool> && requires { typename traits<V>::scalar; })
      return a != V(0);
    else
      return static_cast<To>(a);
  }
  template <std::size_t, class Y, class V> TESSERA_INLINE static constexpr auto slope(Y, V a) {
    return constant_like(a, 1);
  }

 private:
  template <class V, class M> TESSERA_INLINE static constexpr auto truths_as(M a) {
    if constexpr (std::same_as<To, bool>)
      return a;
    else
      return select(a, V(1), V(0));
  }
};

/// False for an operand that no slope belongs to: that of a comparison, the condition of a choice.
template <class F, std::size_t I> inline constexpr bool has_slope = true;
template <std::size_t I> inline constexpr bool has_slope<less, I> = false;
template <std::size_t I> inline constexpr bool has_slope<less_equal, I> = false;
template <std::size_t I> inline constexpr bool has_slope<equal, I> = false;
template <std::size_t I> inline constexpr bool has_slope<not_equal, I> = false;
template <std::size_t I> inline constexpr bool has_slope<both, I> = false;
template <std::size_t I> inline constexpr bool has_slope<either, I> = false;
template <std::size_t I> inline constexpr bool has_slope<inverse, I> = false;
template <> inline constexpr bool has_slope<where, 0> = false;

/// d times the slope of F by operand I.
template <class F, std::size_t I, class D, class V, class... A>
[[nodiscard]] TESSERA_INLINE constexpr auto times_slope(D d, V y, A... a) {
  if constexpr (requires { F::template through<I>(d, y, a...); })
    return F::template through<I>(d, y, a...);
  else
    return d * F::template slope<I>(y, a...);
}

}  // namespace tessera::op
