// SPDX-License-Identifier: MIT
#include "signal.hpp"

#include <tessera/random/numpy.hpp>

#include <cmath>
#include <numbers>

namespace frequency {

auto make_signal(std::uint32_t seed, double phase_scale) -> signal {
  auto generator = tessera::numpy_random_state(seed);
  auto result = signal{};
  result.mixture.assign(samples, 0.0);
  auto amplitudes = std::vector<double>(samples);
  auto phases = std::vector<double>(samples);
  for (auto i = std::size_t{0}; i < frequencies.size(); ++i) {
    auto const omega = 2 * std::numbers::pi * frequencies[i];
    for (auto& a : amplitudes) a = generator.uniform(0.8, 1.2);
    for (auto& p : phases) p = phase_scale * generator.uniform(0, 2 * std::numbers::pi);
    result.targets[i].resize(samples);
    for (auto n = std::size_t{0}; n < samples; ++n) {
      auto const t = static_cast<double>(n) / sample_rate;
      result.mixture[n] += amplitudes[n] * std::sin(omega * t + phases[n]);
      result.targets[i][n] = std::sin(omega * t);
    }
  }
  for (auto& s : result.mixture) s /= static_cast<double>(frequencies.size());
  return result;
}

auto make_recordings(signal const& s) -> std::shared_ptr<tessera::recordings const> {
  auto result = std::make_shared<tessera::recordings>();
  for (auto i = std::size_t{0}; i < frequencies.size(); ++i) {
    auto one = tessera::recording{};
    one.inputs = xt::xtensor<float, 2>(
        std::array<std::size_t, 2>{s.mixture.size(), 1 + frequencies.size()}, 0.0F);
    one.targets = xt::xtensor<float, 2>(std::array<std::size_t, 2>{s.mixture.size(), 1});
    for (auto n = std::size_t{0}; n < s.mixture.size(); ++n) {
      one.inputs(n, 0) = static_cast<float>(s.mixture[n]);
      one.inputs(n, 1 + i) = 1;
      one.targets(n, 0) = static_cast<float>(s.targets[i][n]);
    }
    result->push_back(std::move(one));
  }
  return result;
}

}  // namespace frequency
