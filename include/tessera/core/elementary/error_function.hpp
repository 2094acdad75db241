// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary/exponential.hpp>

/// The error function of numbers and vectors.
///
/// Source  erf near 0 by a polynomial in x²; beyond, erfc(x) = exp(-x²)·q(t) / (1 + 2x) with a
///         polynomial in t = (x - k) / (x + k); coefficients by Sollya's fpminimax
namespace tessera::lane {

namespace detail {

inline constexpr auto erf_turn = 0.9375;  ///< up to here erf, from here erfc is computed

/// erf(x) for |x| <= erf_turn.
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto erf_near_zero(V x) -> V {
  auto const z = x * x;
  auto const p = [&]() TESSERA_INLINE {
    if constexpr (is_float<V>)
      return polynomial(z, 0x1.58c4cap-14, -0x1.a90b78p-11, 0x1.54a622p-8, -0x1.b80b26p-6,
                        0x1.ce2dep-4, -0x1.812742p-2, 0x1.06eba8p-3);
    else
      return polynomial(z, -0x1.bbfa1ca28cb53p-31, 0x1.dc2ca28ffd854p-27, -0x1.5cb4e0debbf3fp-23,
                        0x1.b99a0134ab33dp-20, -0x1.f4ccbcc903493p-17, 0x1.f9a2df982df8dp-14,
                        -0x1.c02db1a0f41d4p-11, 0x1.565bcd014cb19p-8, -0x1.b82ce3122fc2ap-6,
                        0x1.ce2f21a041702p-4, -0x1.812746b0379c3p-2, 0x1.06eba8214db68p-3);
  }();
  return fma(x, p, x);
}

/// exp(-s), where x² = s + lost: exp(-x²) would show what x² rounds away.
template <class V> struct bell {
  V exponential;
  V lost;
};

/// erfc(x) for x >= erf_turn, with exp(-x²) given apart.
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto erfc_tail(V x, bell<V> of_x) -> V {
  constexpr auto float_like = is_float<V>;
  auto const limited = min(constant<V>(float_like ? 10.5 : 28.0), x);
  auto const k = constant<V>(float_like ? 2 : 4);
  auto const t = (limited - k) / (limited + k);
  auto const q = [&]() TESSERA_INLINE {
    if constexpr (is_float<V>)
      return polynomial(t, -0x1.7a729ap-10, 0x1.075e54p-10, 0x1.201dd2p-7, -0x1.05fc7p-7,
                        -0x1.bc47d4p-5, 0x1.4ff928p-3, -0x1.54076p-3, -0x1.7bf5e6p-4, 0x1.46e80ep0);
    else
      return polynomial(t, -0x1.2b0139f84fefap-23, 0x1.22f68967cee47p-22, 0x1.792c03bfdbe74p-23,
                        -0x1.501624a656ccdp-21, 0x1.7747b8db858dcp-30, 0x1.7e8fe401d1689p-21,
                        -0x1.7047e843d735ap-24, -0x1.3823a7de27b0ap-20, 0x1.c9c5c682d6c9ap-22,
                        0x1.871bde5c4bd9p-18, -0x1.7a72d695d5b3bp-17, -0x1.99cd5b859745cp-16,
                        0x1.3be84eedc0a36p-13, -0x1.a1dcfbb90b4b8p-13, -0x1.8d4aefb6fdee9p-11,
                        0x1.49c670dfd8888p-8, -0x1.0962383ce9d72p-6, 0x1.3079edf9927d4p-5,
                        -0x1.0fb06dff6f9c2p-4, 0x1.7fee004e05bfp-4, -0x1.9ddb23c3deaa2p-4,
                        0x1.16ecefcfa5692p-4, 0x1.f7f5df66fc217p-7, -0x1.1df1ad154a29p-3,
                        0x1.3ba5916e9fd7fp0);
  }();
  auto const tail = of_x.exponential;
  return fma(-of_x.lost, tail, tail) * q / fma(constant<V>(2), limited, constant<V>(1));
}
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto erfc_tail(V x) -> V {
  auto const limited = min(constant<V>(is_float<V> ? 10.5 : 28.0), x);
  auto const square = limited * limited;
  return erfc_tail(limited, bell<V>{exp(-square), fma(limited, limited, -square)});
}

}  // namespace detail

/// The error function.
///
/// Accuracy  float 1.3 ulp, double 1.5 ulp; swept: tests/core/elementary_sweep.cpp
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto erf(V x) -> V {
  auto const magnitude = abs(x);
  auto const turn = constant<V>(detail::erf_turn);
  auto const outer = constant<V>(1) - detail::erfc_tail(max(turn, magnitude));
  auto const inner = detail::erf_near_zero(min(turn, magnitude));
  return select(x != x, x, copysign(select(magnitude < turn, inner, outer), x));
}

/// 1 - erf(x), accurate where that is small.
///
/// Accuracy  float 4.5 ulp, double 5 ulp where the result is normal; swept:
///           tests/core/elementary_sweep.cpp
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto erfc(V x) -> V {
  auto const magnitude = abs(x);
  auto const turn = constant<V>(detail::erf_turn);
  auto const tail = detail::erfc_tail(max(turn, magnitude));
  auto const outer = select(x < constant<V>(0), constant<V>(2) - tail, tail);
  auto const inner = constant<V>(1) - detail::erf_near_zero(min(turn, max(-turn, x)));
  return select(x != x, x, select(magnitude < turn, inner, outer));
}

/// A standard normal variable: its distribution, erfc(-x / sqrt(2)) / 2, and exp(-x²/2).
///
/// Accuracy  of the distribution: float 6 ulp, double 5.5 ulp where the result is normal; swept:
///           tests/core/elementary_sweep.cpp
template <class V> struct normal_variable {
  V distribution;
  V exponential;
};

namespace detail {

/// The distribution at -a, for a >= 0, by one polynomial for all of them: there a float is as
/// accurate near 0 as the ones beside it. t is as above with x = a / sqrt(2) and k = 2; its
/// division and that by 1 + 2x are one. 0 below -13.2, where it is below the normal range.
template <class V>
[[nodiscard]] TESSERA_INLINE constexpr auto lower_tail(V magnitude) -> normal_variable<V> {
  constexpr auto most = static_cast<scalar_of<V>>(13.2);
  auto const one = constant<V>(1);
  auto const half = constant<V>(0.5);
  auto const k = constant<V>(2.8284271247461903);
  auto const a = min(V(most), magnitude);
  auto const above = a + k;
  auto const twice = fma(a, constant<V>(1.4142135623730951), one);
  auto const inverse = one / (above * twice);
  auto const t = (a - k) * (twice * inverse);
  auto const q =
      polynomial(t, -0x1.b68f72p-12, -0x1.495ad6p-10, 0x1.5a93e8p-10, 0x1.1b9d6ap-7, -0x1.081858p-7,
                 -0x1.bc194ap-5, 0x1.4ffc04p-3, -0x1.5407e4p-3, -0x1.7bf60ep-4, 0x1.46e80ep0);
  auto const square = half * a * a;
  auto const lost = fma(half * a, a, -square);
  auto const exponential = select(magnitude > V(most), constant<V>(0), exp_of_negative(-square));
  auto const tail = fma(-lost, exponential, exponential) * q * (half * above * inverse);
  return {tail, exponential};
}

}  // namespace detail

template <class V>
[[nodiscard]] TESSERA_INLINE constexpr auto normal_of(V x) -> normal_variable<V> {
  if constexpr (detail::is_float<V>) {
    auto const [tail, exponential] = detail::lower_tail(abs(x));
    auto const upper = constant<V>(1) - tail;
    return {select(x != x, x, select(x < constant<V>(0), tail, upper)), exponential};
  } else {
    auto const half = constant<V>(0.5);
    auto const limited = min(constant<V>(40), abs(x));
    auto const argument = limited * constant<V>(0.70710678118654752);
    auto const turn = constant<V>(detail::erf_turn);
    // x²/2 from x itself: the rounded argument is good enough for all but the exponential.
    auto const square = half * limited * limited;
    auto const lost = fma(half * limited, limited, -square);
    auto const exponential = exp(-square);
    auto const tail = half * detail::erfc_tail(max(turn, argument), {exponential, lost});
    auto const outer = select(x < constant<V>(0), tail, constant<V>(1) - tail);
    auto const inner = half + half * detail::erf_near_zero(copysign(min(turn, argument), x));
    return {select(x != x, x, select(argument < turn, inner, outer)), exponential};
  }
}
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto normal_distribution(V x) -> V {
  return normal_of(x).distribution;
}

}  // namespace tessera::lane
