// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary.hpp>

#include <cstddef>

/// The elementwise operations of expressions.
///
/// Each is a struct with value(a, b, ...), written once for numbers and vectors, and
/// slope<I>(y, a, b, ...), the derivative by operand I where y is the value. At a kink the slope is
/// the one that torch takes.
namespace tessera::op {

template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto constant_like(V, double c) -> V {
  return V(static_cast<lane::scalar_of<V>>(c));
}

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
struct negate {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) { return -a; }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V) {
    return constant_like(y, -1);
  }
};
struct minimum {
  template <class V> TESSERA_INLINE static constexpr auto value(V a, V b) {
    using namespace lane;
    return min(a, b);
  }
  /// Equal operands share the slope.
  template <std::size_t I, class V> TESSERA_INLINE static constexpr auto slope(V y, V a, V b) {
    using namespace lane;
    auto const less = I == 0 ? a < b : b < a;
    return select(a == b, constant_like(y, 0.5),
                  select(less, constant_like(y, 1), constant_like(y, 0)));
  }
};
struct maximum {
  template <class V> TESSERA_INLINE static constexpr auto value(V a, V b) {
    using namespace lane;
    return max(a, b);
  }
  template <std::size_t I, class V> TESSERA_INLINE static constexpr auto slope(V y, V a, V b) {
    using namespace lane;
    auto const greater = I == 0 ? a > b : b > a;
    return select(a == b, constant_like(y, 0.5),
                  select(greater, constant_like(y, 1), constant_like(y, 0)));
  }
};
struct power {
  template <class V> TESSERA_INLINE static constexpr auto value(V a, V b) {
    using namespace lane;
    return pow(a, b);
  }
  template <std::size_t I, class V> TESSERA_INLINE static constexpr auto slope(V y, V a, V b) {
    using namespace lane;
    auto const zero = constant_like(y, 0);
    if constexpr (I == 0)
      return select(b == zero, zero, b * pow(a, b - constant_like(y, 1)));
    else
      return select(a == zero, zero, y * log(a));
  }
};

struct absolute {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) {
    using namespace lane;
    return abs(a);
  }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V a) {
    using namespace lane;
    auto const zero = constant_like(y, 0);
    return select(a > zero, constant_like(y, 1), select(a < zero, constant_like(y, -1), zero));
  }
};
struct squared {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) { return a * a; }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V a) {
    return constant_like(y, 2) * a;
  }
};
struct square_root {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) {
    using namespace lane;
    return sqrt(a);
  }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V) {
    return constant_like(y, 0.5) / y;
  }
};
struct reciprocal_root {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) {
    using namespace lane;
    return rsqrt(a);
  }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V a) {
    return constant_like(y, -0.5) * y / a;
  }
};
struct exponential {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) {
    using namespace lane;
    return exp(a);
  }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V) { return y; }
};
struct exponential_minus_one {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) {
    using namespace lane;
    return expm1(a);
  }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V) {
    return y + constant_like(y, 1);
  }
};
struct logarithm {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) {
    using namespace lane;
    return log(a);
  }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V a) {
    return constant_like(y, 1) / a;
  }
};
struct logarithm_plus_one {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) {
    using namespace lane;
    return log1p(a);
  }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V a) {
    return constant_like(y, 1) / (a + constant_like(y, 1));
  }
};
struct hyperbolic_tangent {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) {
    using namespace lane;
    return tanh(a);
  }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V) {
    return constant_like(y, 1) - y * y;
  }
};
struct logistic {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) {
    using namespace lane;
    return sigmoid(a);
  }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V) {
    return y * (constant_like(y, 1) - y);
  }
};
struct rectifier {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) {
    using namespace lane;
    return relu(a);
  }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V) {
    using namespace lane;
    return select(y > constant_like(y, 0), constant_like(y, 1), constant_like(y, 0));
  }
};
struct swish {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) {
    using namespace lane;
    return silu(a);
  }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V a) {
    using namespace lane;
    auto const s = sigmoid(a);
    return s + y * (constant_like(y, 1) - s);
  }
};
struct gaussian_unit {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) {
    using namespace lane;
    return gelu(a);
  }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V, V a) {
    using namespace lane;
    return gelu_slope(a);
  }
};
struct gaussian_unit_by_tanh {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) {
    using namespace lane;
    return gelu_tanh(a);
  }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V, V a) {
    using namespace lane;
    return gelu_tanh_slope(a);
  }
};
struct soft_rectifier {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) {
    using namespace lane;
    return softplus(a);
  }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V, V a) {
    using namespace lane;
    return select(a > constant_like(a, 20), constant_like(a, 1), sigmoid(a));
  }
};
struct error_integral {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) {
    using namespace lane;
    return erf(a);
  }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V y, V a) {
    using namespace lane;
    return constant_like(y, 1.1283791670955126) * exp(-a * a);  // 2 / sqrt(pi)
  }
};
struct sine {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) {
    using namespace lane;
    return sin(a);
  }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V, V a) {
    using namespace lane;
    return cos(a);
  }
};
struct cosine {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) {
    using namespace lane;
    return cos(a);
  }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(V, V a) {
    using namespace lane;
    return -sin(a);
  }
};
/// min(max(a, low), high): NaN stays, the slope is 1 from low to high, both included.
struct clamped {
  template <class V> TESSERA_INLINE static constexpr auto value(V a, V low, V high) {
    using namespace lane;
    return min(high, max(low, a));
  }
  template <std::size_t I, class V>
  TESSERA_INLINE static constexpr auto slope(V y, V a, V low, V high) {
    using namespace lane;
    auto const one = constant_like(y, 1);
    auto const zero = constant_like(y, 0);
    if constexpr (I == 0)
      return select(a >= low, select(a <= high, one, zero), zero);
    else if constexpr (I == 1)
      return select(a < low, one, zero);
    else
      return select(a > high, one, zero);
  }
};
struct choose {
  template <class M, class V> TESSERA_INLINE static constexpr auto value(M condition, V a, V b) {
    using namespace lane;
    return select(condition, a, b);
  }
  template <std::size_t I, class M, class V>
  TESSERA_INLINE static constexpr auto slope(V y, M condition, V, V) {
    using namespace lane;
    auto const one = constant_like(y, 1);
    auto const zero = constant_like(y, 0);
    return I == 1 ? select(condition, one, zero) : select(condition, zero, one);
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
template <class To> struct converted {
  template <class V> TESSERA_INLINE static constexpr auto value(V a) { return static_cast<To>(a); }
  template <std::size_t, class V> TESSERA_INLINE static constexpr auto slope(To, V) {
    return static_cast<V>(1);
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
template <> inline constexpr bool has_slope<choose, 0> = false;

}  // namespace tessera::op
