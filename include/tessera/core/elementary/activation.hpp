// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary/error_function.hpp>

/// The activations of neural networks, for numbers and vectors.
namespace tessera::lane {

namespace detail {

template <class V> inline constexpr auto sign_bits = sign_bit<scalar_of<V>>;
/// A number that is not negative, with the sign of s.
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto with_sign(V x, V s) -> V {
  return from_bits(as_bits(x) | (as_bits(s) & bits_of<V>(sign_bits<V>)));
}

}  // namespace detail

/// The hyperbolic tangent, by expm1: (e^2x - 1) / (e^2x + 1).
///
/// Accuracy  float 2.6 ulp, double 2.6 ulp; swept: tests/core/elementary_sweep.cpp
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto tanh(V x) -> V {
  using T = scalar_of<V>;
  // Above it the result rounds to 1; a NaN stays one. The exponent need not wait for the sum.
  constexpr auto most = static_cast<T>(detail::is_float<V> ? 9.5 : 22.0);
  auto const magnitude = abs(x);
  auto const doubled = min(V(2 * most), magnitude + magnitude);
  auto const n = nearest_small(limited_magnitude(x, most) * constant<V>(2 * detail::log2_e));
  auto const r = detail::reduce_exponent(doubled, n.value);
  auto const two_n = power_of_two(n);
  auto const t = fma(two_n, detail::expm1_reduced(r), two_n - constant<V>(1));
  return detail::with_sign(t, x) / (t + constant<V>(2));
}

/// 1 / (1 + exp(-x)).
///
/// Accuracy  float 2.5 ulp, double 3 ulp; 0 where it would be below the normal range; swept:
///           tests/core/elementary_sweep.cpp
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto sigmoid(V x) -> V {
  constexpr auto most = static_cast<scalar_of<V>>(detail::is_float<V> ? 87.3365 : 708.396);
  auto const z = exp_of_negative(limited_negative(x, most));
  auto const zero = constant<V>(0);
  auto const one = constant<V>(1);
  // What is chosen before the division waits for nothing but z.
  auto const above = select(x < zero && x >= V(-most), z, select(x < zero, zero, one));
  return select(x == x, above / (one + z), x);
}

/// x where it is positive, else 0; NaN stays.
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto relu(V x) -> V {
  return max(constant<V>(0), x);
}

/// x·sigmoid(x).
///
/// Accuracy  float 3.5 ulp, double 3.5 ulp; swept: tests/core/elementary_sweep.cpp
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto silu(V x) -> V {
  return x * sigmoid(x);
}

/// log(1 + exp(x)); x itself above 20, as torch.nn.Softplus.
///
/// Accuracy  float 2 ulp, double 2.5 ulp; swept: tests/core/elementary_sweep.cpp
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto softplus(V x) -> V {
  auto const threshold = constant<V>(20);
  return select(x > threshold, x, log1p(exp(min(threshold, x))));
}

/// x·Φ(x), Φ the distribution of a standard normal variable: torch's GELU.
///
/// Accuracy  from -12 on float 7 ulp, double 8 ulp; swept: tests/core/elementary_sweep.cpp
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto gelu(V x) -> V {
  return x * normal_distribution(x);
}
/// Φ(x) + x·φ(x).
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto gelu_slope(V x) -> V {
  auto const [distribution, exponential] = normal_of(x);
  auto const density = constant<V>(0.39894228040143268) * exponential;
  auto const limited = min(constant<V>(40), max(constant<V>(-40), x));
  return fma(limited, density, distribution);
}

namespace detail {
/// 2·sqrt(2/π)·(x + 0.044715·x³)
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto gelu_argument(V x) -> V {
  return x * fma(x * x, constant<V>(0.071354816272600247), constant<V>(1.5957691216057308));
}
}  // namespace detail

/// x·(1 + tanh(sqrt(2/π)·(x + 0.044715·x³))) / 2: torch's GELU with approximate='tanh'.
///
/// Accuracy  float 20 ulp down to x = -4, where the result is 3e-4 of x; absolutely 1e-7; swept:
///           tests/core/elementary_sweep.cpp
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto gelu_tanh(V x) -> V {
  return x * sigmoid(detail::gelu_argument(x));
}
template <class V> [[nodiscard]] TESSERA_INLINE constexpr auto gelu_tanh_slope(V x) -> V {
  auto const limited = min(constant<V>(20), max(constant<V>(-20), x));
  auto const s = sigmoid(detail::gelu_argument(limited));
  auto const inner = limited * fma(limited * limited, constant<V>(0.21406444881780074),
                                   constant<V>(1.5957691216057308));
  return fma(s * (constant<V>(1) - s), inner, s);
}

}  // namespace tessera::lane
