// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/lane.hpp>

/// Activations in half of the time that the library's own take, for numbers and vectors of float:
/// one quotient of polynomials, and no exponential. The error is bounded absolutely, so that a
/// sigmoid near 0 has few digits and may be -6e-8, and a tanh may be above 1 by a unit in the last
/// place.
///
/// Source  tanh(x) = x·P(x²) / Q(x²) with least absolute error for |x| <= 8.6, by least squares
///         that are weighted anew until the error is level (1.2e-8)
namespace tessera::lane {

namespace detail {

/// factor·tanh(scale·x) for powers of two, which change no digit of the coefficients. A sum of five
/// terms is three of two.
template <class V>
[[nodiscard]] TESSERA_INLINE constexpr auto scaled_tanh(V x, double scale, double factor) -> V {
  static_assert(std::is_same_v<scalar_of<V>, float>, "relaxed activations are those of float");
  auto const most = 0x1.133334p+3 / scale;  // 8.6; a NaN stays one
  auto const limited = max(constant<V>(-most), min(constant<V>(most), x));
  auto const u = min(constant<V>(most * most), x * x);
  auto const u2 = u * u;
  auto const s = scale * scale;
  auto const f = factor * scale;
  auto const p_low = fma(u, constant<V>(f * s * 0x1.126cecp-3), constant<V>(f * 0x1.fffffep-1));
  auto const p_high =
      fma(u, constant<V>(f * s * s * s * 0x1.602d16p-16), constant<V>(f * s * s * 0x1.cd1dbap-9));
  auto const p = fma(u2, constant<V>(f * s * s * s * s * 0x1.de0646p-27), p_high);
  auto const q_low = fma(u, constant<V>(s * 0x1.de8bbap-2), constant<V>(1));
  auto const q_high =
      fma(u, constant<V>(s * s * s * 0x1.5c6deep-12), constant<V>(s * s * 0x1.a95afp-6));
  auto const q = fma(u2, constant<V>(s * s * s * s * 0x1.ad6c6p-21), q_high);
  return fma(limited * u2, p, limited * p_low) / fma(u2, q, q_low);
}

}  // namespace detail

/// The hyperbolic tangent.
///
/// Accuracy  absolutely 3e-7, without fma 4e-7; infinity gives 1 and -1, NaN stays:
///           tests/core/elementary/relaxed.cpp
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto relaxed_tanh(V x) -> V {
  return detail::scaled_tanh(x, 1, 1);
}
/// 1 / (1 + exp(-x)), as 1/2 + tanh(x/2) / 2.
///
/// Accuracy  absolutely 2e-7; infinity gives 1 and 0, NaN stays: tests/core/elementary/relaxed.cpp
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto relaxed_sigmoid(V x) -> V {
  return detail::scaled_tanh(x, 0.5, 0.5) + constant<V>(0.5);
}

}  // namespace tessera::lane
