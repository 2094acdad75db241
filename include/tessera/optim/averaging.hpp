// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/contract.hpp>
#include <tessera/tensor/assign.hpp>
#include <tessera/tensor/parameters.hpp>

#include <cstdint>

namespace tessera {

/// An exponential moving average of parameters: average += (1 - decay)·(p - average). Early steps
/// use the smaller decay (1 + step) / (10 + step), so that the start is soon forgotten.
///
/// Cost    one pass; no heap
/// Errors  a decay outside [0, 1] breaks the contract
/// Source  Ho et al., Denoising diffusion probabilistic models, 2020; the warm-up as in
///         TensorFlow's ExponentialMovingAverage(num_updates)
struct exponential_average {
  double decay = 0.999;

  [[nodiscard]] constexpr auto decay_at(std::uint64_t step) const -> double {
    require(decay >= 0 && decay <= 1, "exponential_average: decay must be in [0, 1]");
    auto const early = (1 + static_cast<double>(step)) / (10 + static_cast<double>(step));
    return early < decay ? early : decay;
  }
  template <class P> void update(P& average, P const& p, std::uint64_t step) const {
    auto const share = 1 - decay_at(step);
    for_numbers([&](auto a, auto w) { a += (w - a) * static_cast<scalar_of<decltype(a)>>(share); },
                average, p);
  }
};

}  // namespace tessera
