// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary.hpp>
#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/rotary.hpp>

#if TESSERA_SIMD
#include <tessera/ops/simd/rotary.hpp>
#endif

#include <array>

namespace tessera {

enum class rotary_kind { plain, linear, llama3 };

/// How frequencies are changed for contexts that are longer than those of the training.
struct rotary_scaling {
  rotary_kind kind = rotary_kind::plain;
  double factor = 1;       ///< linear: of all frequencies, which are divided by it
  double low_factor = 1;   ///< llama3: waves longer than context / low_factor are divided,
  double high_factor = 4;  ///< those shorter than context / high_factor are not
  double context = 8192;   ///< llama3: of the training
};

namespace detail {

[[nodiscard]] constexpr auto scaled_frequency(double f, rotary_scaling const& by) -> double {
  if (by.kind == rotary_kind::plain) return f;
  if (by.kind == rotary_kind::linear) return f / by.factor;
  auto const waves = by.context * f / (2 * 3.14159265358979323846);  // in that context
  auto const part = (waves - by.low_factor) / (by.high_factor - by.low_factor);
  auto const kept = part < 0 ? 0 : part > 1 ? 1 : part;
  return (1 - kept) * f / by.factor + kept * f;
}
/// base^(-2·i / Width), scaled.
template <class T, std::size_t Width>
[[nodiscard]] constexpr auto rotary_frequencies(double base,
                                                rotary_scaling const& scaling = rotary_scaling{})
    -> std::array<T, Width / 2> {
  auto result = std::array<T, Width / 2>{};
  for (auto i = std::size_t{0}; i < Width / 2; ++i) {
    auto const exponent = -2 * static_cast<double>(i) / static_cast<double>(Width);
    result[i] = static_cast<T>(scaled_frequency(lane::exp(lane::log(base) * exponent), scaling));
  }
  return result;
}

}  // namespace detail

}  // namespace tessera
