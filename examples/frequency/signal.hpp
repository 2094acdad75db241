// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/data/batches.hpp>

#include <array>
#include <cstdint>
#include <vector>

/// The signal that the filter is trained on: four noisy sinusoids, mixed.
namespace frequency {

inline constexpr auto frequencies = std::array{1.0, 3.0, 5.0, 7.0};  ///< Hz
inline constexpr auto sample_rate = 1000.0;                          ///< Hz
inline constexpr auto samples = std::size_t{10'000};

/// A mixture of sinusoids whose amplitude and phase are drawn anew for every sample, and the clean
/// sinusoid of every frequency.
struct signal {
  std::vector<double> mixture;
  std::array<std::vector<double>, frequencies.size()> targets;
};

/// The signal of a seed, by the numbers of numpy.random.RandomState(seed): for each frequency first
/// all amplitudes of [0.8, 1.2), then all phases, phase_scale times [0, 2π).
[[nodiscard]] auto make_signal(std::uint32_t seed, double phase_scale) -> signal;

/// The signal as four recordings, one for each frequency: inputs (mixture, selector of four),
/// target the selected sinusoid.
[[nodiscard]] auto make_recordings(signal const& s) -> std::shared_ptr<tessera::recordings const>;

}  // namespace frequency
