// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary/exponential.hpp>

/// Sine and cosine of numbers and vectors.
///
/// Source  reduction by π/2 in parts after Cody and Waite; polynomials by Sollya's fpminimax
namespace tessera::lane {

namespace detail {

/// x = n·π/2 + r, and which of the four quadrants n is in; r is within what the polynomials take,
/// even where x has no digits left for it.
template <class V> struct quadrant {
  bits_of<V> n;
  V r;
};
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto reduce_quadrant(V x) -> quadrant<V> {
  auto const bounded = [](V r) TESSERA_INLINE {
    return min(constant<V>(0.8), max(constant<V>(-0.8), r));
  };
  auto const n = nearest(x * constant<V>(0.63661977236758134));
  if constexpr (is_float<V>) {
    auto r = fma(n.value, constant<V>(-0x1.92p0), x);
    r = fma(n.value, constant<V>(-0x1.fb4p-12), r);
    r = fma(n.value, constant<V>(-0x1.444p-24), r);
    return {n.bits, bounded(fma(n.value, constant<V>(-0x1.68c234p-39), r))};
  } else {
    auto r = fma(n.value, constant<V>(-0x1.921fb54400000p0), x);
    r = fma(n.value, constant<V>(-0x1.0b4611a600000p-34), r);
    return {n.bits, bounded(fma(n.value, constant<V>(-0x1.3198a2e037073p-69), r))};
  }
}

/// sin(r) and cos(r) for |r| <= π/4.
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto sin_reduced(V r) -> V {
  auto const z = r * r;
  auto const p = [&]() TESSERA_INLINE {
    if constexpr (is_float<V>)
      return polynomial(z, -0x1.9ab41ap-13, 0x1.110be6p-7, -0x1.555552p-3);
    else
      return polynomial(z, 0x1.5e11ba1f8c889p-33, -0x1.ae60217780df1p-26, 0x1.71de37b23548p-19,
                        -0x1.a01a019ea17c2p-13, 0x1.1111111110c84p-7, -0x1.5555555555555p-3);
  }();
  return fma(z * r, p, r);
}
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto cos_reduced(V r) -> V {
  auto const z = r * r;
  auto const p = [&]() TESSERA_INLINE {
    if constexpr (is_float<V>)
      return polynomial(z, 0x1.9bc77ap-16, -0x1.6c129ep-10, 0x1.555554p-5);
    else
      return polynomial(z, -0x1.9073ed6bbcc0ep-37, 0x1.1eeb586ee1899p-29, -0x1.27e4fa03840bbp-22,
                        0x1.a01a019f38ba3p-16, -0x1.6c16c16c168ccp-10, 0x1.5555555555555p-5);
  }();
  auto const half = constant<V>(0.5) * z;
  auto const top = constant<V>(1) - half;
  return top + fma(z * z, p, (constant<V>(1) - top) - half);
}

/// The value in quadrant n: sin, cos, -sin, -cos.
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto by_quadrant(bits_of<V> n, V r) -> V {
  using T = scalar_of<V>;
  using B = lane::bits_of<T>;
  auto const odd = from_bits((n & bits_of<V>(B{1})) | as_bits(constant<V>(1))) != constant<V>(1);
  auto const value = select(odd, cos_reduced(r), sin_reduced(r));
  auto const sign = (n & bits_of<V>(B{2})) << (sizeof(T) * 8 - 2);
  return from_bits(as_bits(value) ^ sign);
}

}  // namespace detail

/// The sine of x in radians.
///
/// Accuracy  |x| <= 2^16: float 2.5 ulp, double 3 ulp; beyond, the error of the reduction
///           grows with |x|, and above 2^21 (float) or 2^50 (double) the result has no digits left
///           but is one from -1 to 1
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto sin(V x) -> V {
  auto const [n, r] = detail::reduce_quadrant(x);
  return select(x == constant<V>(0), x, detail::by_quadrant(n, r));
}

/// The cosine of x in radians; accuracy as sin.
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto cos(V x) -> V {
  using B = lane::bits_of<scalar_of<V>>;
  auto const [n, r] = detail::reduce_quadrant(x);
  return detail::by_quadrant(n + bits_of<V>(B{1}), r);
}

}  // namespace tessera::lane
