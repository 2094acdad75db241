// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary/exponential.hpp>

/// Powers and roots of numbers and vectors.
namespace tessera::lane {

/// 1 / sqrt(x), by a correctly rounded root and division.
///
/// Accuracy  1.5 ulp; swept: tests/core/elementary_sweep.cpp
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto rsqrt(V x) -> V {
  return constant<V>(1) / sqrt(x);
}

namespace detail {

/// The unevaluated sum of two numbers, which carries twice the digits of one.
template <class V> struct sum_of_two {
  V high;
  V low;
};
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto two_sum(V a, V b) -> sum_of_two<V> {
  auto const s = a + b;
  auto const z = s - a;
  return {s, (a - (s - z)) + (b - z)};
}
/// Without fma the low part is what splitting by Veltkamp gives.
template <class V>
[[nodiscard]] TESSERA_INLINE constexpr auto two_product(V a, V b) -> sum_of_two<V> {
  auto const p = a * b;
#if TESSERA_FMA
  return {p, fma(a, b, -p)};
#else
  auto const factor = constant<V>(is_float<V> ? 4097.0 : 134217729.0);
  auto const a_big = factor * a;
  auto const b_big = factor * b;
  auto const ah = a_big - (a_big - a);
  auto const bh = b_big - (b_big - b);
  return {p, ((ah * bh - p) + ah * (b - bh) + (a - ah) * bh) + (a - ah) * (b - bh)};
#endif
}
template <class V>
[[nodiscard]] TESSERA_INLINE constexpr auto add(sum_of_two<V> a, sum_of_two<V> b) -> sum_of_two<V> {
  auto const s = two_sum(a.high, b.high);
  return two_sum(s.high, s.low + (a.low + b.low));
}
template <class V>
[[nodiscard]] TESSERA_INLINE constexpr auto multiply(sum_of_two<V> a, sum_of_two<V> b)
    -> sum_of_two<V> {
  auto const p = two_product(a.high, b.high);
  return two_sum(p.high, p.low + fma(a.high, b.low, a.low * b.high));
}

/// log(x) for positive finite x, to about twice the digits: s = f / (2 + f),
/// log(1 + f) = 2·s + s³·(2/3 + 2/5·s² + ...).
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto log_of_two(V x) -> sum_of_two<V> {
  auto const [e, f] = split(x);
  auto const below = two_sum(constant<V>(2), f);
  auto const quotient = f / below.high;
  auto const product = two_product(quotient, below.high);
  auto const rest = ((f - product.high) - product.low - quotient * below.low) / below.high;
  auto const s = sum_of_two<V>{quotient, rest};
  auto const square = multiply(s, s);
  auto const z = square.high;
  auto const tail = [&]() TESSERA_INLINE {
    if constexpr (is_float<V>)
      return polynomial(z, 0x1.82a5ap-3, 0x1.c7027p-3, 0x1.249212p-2, 0x1.99999ap-2);
    else
      return polynomial(z, 0x1.dabb59878f278p-4, 0x1.e01761650f64p-4, 0x1.11155ab108c62p-3,
                        0x1.3b13a9a032dap-3, 0x1.745d173d46448p-3, 0x1.c71c71c74c144p-3,
                        0x1.24924924922ffp-2, 0x1.999999999999ap-2);
  }();
  auto const third =
      is_float<V>
          ? sum_of_two<V>{constant<V>(0x1.555556p-1), constant<V>(-0x1.555556p-26)}
          : sum_of_two<V>{constant<V>(0x1.5555555555555p-1), constant<V>(0x1.5555555555555p-55)};
  auto const series = add(third, {z * tail, constant<V>(0)});
  auto const cube = multiply(multiply(square, s), series);
  auto const twice = sum_of_two<V>{quotient + quotient, rest + rest};
  auto const power = two_product(e, constant<V>(ln2_high<V>));
  auto const low = fma(e, constant<V>(ln2_low<V>), power.low);
  auto const whole = add(two_sum(power.high, low), twice);
  return add(whole, cube);
}

/// An integer, an odd one, by what rounding to an integer leaves of y and of y/2.
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto is_integer(V y) {
  // Above 2^mantissa every number is an integer.
  auto const large = constant<V>(is_float<V> ? 0x1p23 : 0x1p52);
  auto const magnitude = abs(y);
  auto const limited = min(magnitude, large);
  auto const rounded = (limited + large) - large;
  return rounded == limited;
}

}  // namespace detail

/// x to the power of y, with the special values of the C standard.
///
/// Accuracy  float 2 ulp, double 2 ulp where the result is normal; checked on random pairs:
///           tests/core/elementary_sweep.cpp
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto pow(V x, V y) -> V {
  using T = scalar_of<V>;
  auto const zero = constant<V>(0);
  auto const one = constant<V>(1);
  auto const infinite = V(std::numeric_limits<T>::infinity());
  auto const not_a_number = V(std::numeric_limits<T>::quiet_NaN());
  auto const magnitude = abs(x);
  auto const logarithm = detail::log_of_two(
      select(magnitude == zero, one, select(magnitude < infinite, magnitude, one)));

  auto const limited_y = min(V(T(1e30F)), max(V(T(-1e30F)), y));
  auto const product = detail::two_product(logarithm.high, limited_y);
  auto const exponent = detail::two_sum(product.high, fma(logarithm.low, limited_y, product.low));
  constexpr auto float_like = detail::is_float<V>;
  auto const high = max(constant<V>(float_like ? -105.0 : -747.0),
                        min(constant<V>(float_like ? 90.0 : 711.0), exponent.high));
  auto const n = detail::exponent_of(high);
  auto const r = detail::reduce_exponent(high, n.value);
  auto const low = select(high == exponent.high, exponent.low, zero);
  auto const e = detail::expm1_reduced(r);
  auto const value = detail::scale(one + fma(low, one + e, e), n.value);

  // What a zero or infinite base gives, by the sign of y.
  auto const grows = y > zero;
  auto const at_zero = select(grows, zero, infinite);
  auto const at_infinity = select(grows, infinite, zero);
  auto result =
      select(magnitude == zero, at_zero, select(magnitude == infinite, at_infinity, value));

  // An infinite y: toward 0 or infinity, by whether |x| is below or above 1.
  auto const away = select(magnitude > one, at_infinity, at_zero);
  result = select(abs(y) == infinite, select(magnitude == one, one, away), result);

  auto const negative = copysign(one, x) < zero;
  auto const integer = detail::is_integer(y);
  auto const even = detail::is_integer(constant<V>(0.5) * y);
  auto const odd_result = select(even, result, -result);
  auto const of_negative = select(
      integer, odd_result,
      select(magnitude == zero, result, select(magnitude == infinite, result, not_a_number)));
  result = select(negative, of_negative, result);
  result = select(x != x, x, select(y != y, y, result));
  return select(y == zero, one, select(x == one, one, result));
}

}  // namespace tessera::lane
