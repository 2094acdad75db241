// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

/// What a call carries besides memory. A composition hands its layers the context, told which of
/// them it is for: m.context.inside(i).
namespace tessera {

/// Nothing: inference.
struct plain_context {
  [[nodiscard]] constexpr auto inside(std::size_t) const -> plain_context { return {}; }
};

/// A random stream for every layer, by counting: what a layer draws depends on the seed, the step,
/// the chunk of the batch and its place in the model, and on nothing that ran before.
struct random_context {
  std::uint64_t seed = 0;
  std::uint64_t step = 0;
  std::uint32_t chunk = 0;
  std::uint32_t path = 0;
  /// What dropout layers take whose probability is decided at run time.
  float dropout = 0;

  [[nodiscard]] constexpr auto inside(std::size_t index) const -> random_context {
    auto inner = *this;
    inner.path = path * 0x9E3779B1U + static_cast<std::uint32_t>(index) + 1U;
    return inner;
  }
};

}  // namespace tessera
