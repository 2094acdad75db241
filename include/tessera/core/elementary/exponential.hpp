// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/lane.hpp>

/// Exponentials and logarithms of numbers and vectors.
///
/// Source  polynomials by Sollya's fpminimax on the reduced arguments; reduction by ln 2 in two
///         parts after Cody and Waite
namespace tessera::lane {

namespace detail {

template <class V> inline constexpr bool is_float = std::is_same_v<scalar_of<V>, float>;

inline constexpr auto log2_e = 1.4426950408889634;
/// ln 2 in two parts, the first with zeros at its end, so that n·high is exact.
template <class V>
inline constexpr auto ln2_high = is_float<V> ? 0x1.62e4p-1 : 0x1.62e42fee00000p-1;
template <class V>
inline constexpr auto ln2_low = is_float<V> ? 0x1.7f7d1cf79abcap-20 : 0x1.a39ef35793c76p-33;

/// exp(r) - 1 for |r| <= ln2 / 2.
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto expm1_reduced(V r) -> V {
  auto const tail = [&]() TESSERA_INLINE {
    if constexpr (is_float<V>)
      return polynomial(r, 0x1.a2d99ap-13, 0x1.6d2e06p-10, 0x1.110fc2p-7, 0x1.555502p-5,
                        0x1.555556p-3, 0.5);
    else
      return polynomial(r, 0x1.1f86f0aee6849p-29, 0x1.af4ecab92bbe1p-26, 0x1.27e4cfaf0ef32p-22,
                        0x1.71de01acf760dp-19, 0x1.a01a01ab98829p-16, 0x1.a01a01ac1de81p-13,
                        0x1.6c16c16c156a5p-10, 0x1.1111111110051p-7, 0x1.5555555555557p-5,
                        0x1.5555555555557p-3, 0.5);
  }();
  return fma(r * r, tail, r);
}

/// The integer n of x = n·ln2 + r.
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto exponent_of(V x) -> integral<V> {
  return nearest_small(x * constant<V>(log2_e));
}
/// r of x = n·ln2 + r.
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto reduce_exponent(V x, V n) -> V {
  return fma(n, constant<V>(-ln2_low<V>), fma(n, constant<V>(-ln2_high<V>), x));
}

/// x·2^n in two steps, each a normal factor, so that results below and above the normal range
/// come out right.
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto scale(V x, V n) -> V {
  auto const half = nearest(n * constant<V>(0.5));
  auto const rest = nearest(n - half.value);
  return x * power_of_two(half) * power_of_two(rest);
}

}  // namespace detail

/// e to the power of x.
///
/// Accuracy  float 1 ulp, double 1 ulp, without fma 2; swept: tests/core/elementary_sweep.cpp
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto exp(V x) -> V {
  constexpr auto float_like = detail::is_float<V>;
  if constexpr (std::is_arithmetic_v<V>)  // a constant expression may not overflow
    if (std::is_constant_evaluated() && x > constant<V>(float_like ? 88.72283 : 709.782712893384))
      return std::numeric_limits<V>::infinity();
  // Beyond these the result is 0 or infinite; a NaN stays one.
  auto const limited = max(constant<V>(float_like ? -104.0 : -746.0),
                           min(constant<V>(float_like ? 89.0 : 710.0), x));
  auto const n = detail::exponent_of(limited);
  auto const r = detail::reduce_exponent(limited, n.value);
  using detail::scale;
  return scale(constant<V>(1) + detail::expm1_reduced(r), n.value);
}

/// e to the power of x for x <= 0 and not below the normal range: half of the work at the end.
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto exp_of_negative(V x) -> V {
  auto const n = detail::exponent_of(x);
  auto const r = detail::reduce_exponent(x, n.value);
  auto const two_n = power_of_two(n);
  return fma(two_n, detail::expm1_reduced(r), two_n);
}

/// exp(x) - 1, accurate near 0.
///
/// Accuracy  float 1.5 ulp, double 2 ulp; swept: tests/core/elementary_sweep.cpp
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto expm1(V x) -> V {
  constexpr auto float_like = detail::is_float<V>;
  auto const limited =
      max(constant<V>(float_like ? -18.0 : -40.0), min(constant<V>(float_like ? 89.0 : 710.0), x));
  auto const n = detail::exponent_of(limited);
  auto const r = detail::reduce_exponent(limited, n.value);
  auto const p = detail::expm1_reduced(r);
  // 2^n·p + (2^n - 1), with half the power first, which does not overflow before its time.
  auto const half = power_of_two(nearest_small(n.value - constant<V>(1)));
  auto const scaled = fma(half, p, half - constant<V>(0.5));
  // Near 0, x itself: -0 stays, and tiny numbers lose nothing.
  return select(n.value == constant<V>(0), select(x == constant<V>(0), x, p), scaled + scaled);
}

namespace detail {

/// x = 2^e·(1 + f), with 1 + f from sqrt(1/2) to sqrt(2), for positive finite x.
template <class V> struct split_number {
  V e;
  V f;
};
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto split(V x) -> split_number<V> {
  using T = scalar_of<V>;
  using B = lane::bits_of<T>;
  constexpr auto digits = format<T>::mantissa;
  auto const subnormal = x < constant<V>(is_float<V> ? 0x1p-126 : 0x1p-1022);
  auto const normal = select(subnormal, x * constant<V>(is_float<V> ? 0x1p24 : 0x1p54), x);
  // Adding the distance from sqrt(1/2) to 1 lets the exponent count from sqrt(1/2) to sqrt(2).
  auto const root = as_bits(static_cast<T>(0.70710678118654752));
  auto const shifted = as_bits(normal) + bits_of<V>(static_cast<B>(as_bits(T{1}) - root));
  auto const exponent = small_to_float<V>(shifted >> digits) - constant<V>(format<T>::bias);
  auto const mantissa =
      from_bits((shifted & bits_of<V>(static_cast<B>((B{1} << digits) - 1))) + bits_of<V>(root));
  return {select(subnormal, exponent - constant<V>(is_float<V> ? 24 : 54), exponent),
          mantissa - constant<V>(1)};
}

/// log(1 + f) + e·ln2 + c, for a small correction c.
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto log_of_parts(V e, V f, V c) -> V {
  if constexpr (is_float<V>) {
    auto const q =
        polynomial(f, 0x1.2ca65cp-4, -0x1.ddae94p-4, 0x1.dc77fcp-4, -0x1.fbbfbap-4, 0x1.23de36p-3,
                   -0x1.556286p-3, 0x1.999d2ap-3, -0x1.ffffe6p-3, 0x1.555554p-2);
    auto const square = f * f;
    auto const low = fma(e, constant<V>(ln2_low<V>), c);
    auto const tail = fma(constant<V>(-0.5), square, fma(square * f, q, low));
    return fma(e, constant<V>(ln2_high<V>), f + tail);
  } else {
    auto const s = f / (constant<V>(2) + f);
    auto const z = s * s;
    auto const r = z * polynomial(z, 0x1.2f11802130a4ep-3, 0x1.39a0957af076dp-3,
                                  0x1.746649b01b6bp-3, 0x1.c71c51d7cce7ep-3, 0x1.249249422a476p-2,
                                  0x1.999999997f9f8p-2, 0x1.5555555555593p-1);
    auto const half_square = constant<V>(0.5) * f * f;
    auto const low = fma(e, constant<V>(ln2_low<V>), c);
    auto const tail = half_square - fma(s, half_square + r, low);
    return fma(e, constant<V>(ln2_high<V>), f - tail);
  }
}

/// What logarithms give at 0, below 0, at infinity and NaN.
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto log_limits(V x, V value) -> V {
  using T = scalar_of<V>;
  auto const infinite = V(std::numeric_limits<T>::infinity());
  auto const finite = select(x < infinite, value, x);
  auto const positive = select(x > constant<V>(0), finite, V(std::numeric_limits<T>::quiet_NaN()));
  auto const zero = select(x == constant<V>(0), -infinite, positive);
  return select(x != x, x, zero);
}

}  // namespace detail

/// The natural logarithm.
///
/// Accuracy  float 1 ulp, double 1 ulp; swept: tests/core/elementary_sweep.cpp
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto log(V x) -> V {
  auto const [e, f] = detail::split(x);
  return detail::log_limits(x, detail::log_of_parts(e, f, constant<V>(0)));
}

/// log(1 + x), accurate near 0.
///
/// Accuracy  float 1 ulp, double 1 ulp; swept: tests/core/elementary_sweep.cpp
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto log1p(V x) -> V {
  auto const one = constant<V>(1);
  auto const u = one + x;
  auto const [e, f] = detail::split(u);
  // What 1 + x rounded away, as a part of u; f is exact where u was near 1.
  auto const lost = select(x < one, x - (u - one), one - (u - x)) / u;
  auto const at_one = e == constant<V>(0);
  auto const value =
      detail::log_of_parts(e, select(at_one, x, f), select(at_one, constant<V>(0), lost));
  auto const limited = detail::log_limits(u, value);
  return select(x == constant<V>(0), x, limited);
}

}  // namespace tessera::lane
