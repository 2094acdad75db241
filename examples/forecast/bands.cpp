// SPDX-License-Identifier: MIT
#include "bands.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace forecast {

namespace {

void check(std::span<double const> forecasts, std::span<double const> came) {
  if (came.size() < 2 || forecasts.size() != came.size())
    throw std::invalid_argument("bands_of: expected forecasts of at least 2 days, got " +
                                std::to_string(forecasts.size()) + " of " +
                                std::to_string(came.size()));
}

[[nodiscard]] auto miss(double forecast, double came, bool relative) -> double {
  return relative ? came / forecast : came - forecast;
}

/// The q-quantile of sorted numbers, between neighbors by a line.
[[nodiscard]] auto quantile(std::vector<double> const& sorted, double q) -> double {
  auto const at = q * static_cast<double>(sorted.size() - 1);
  auto const i = std::min(static_cast<std::size_t>(at), sorted.size() - 2);
  return sorted[i] + (at - static_cast<double>(i)) * (sorted[i + 1] - sorted[i]);
}

}  // namespace

auto bands_of(std::span<double const> forecasts, std::span<double const> came, bool relative)
    -> std::vector<band> {
  check(forecasts, came);
  auto misses = std::vector<double>{};
  for (auto i = std::size_t{0}; i < came.size(); ++i)
    misses.push_back(miss(forecasts[i], came[i], relative));
  std::ranges::sort(misses);
  auto result = std::vector<band>{};
  for (auto const share : {0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99})
    result.push_back(
        {share, quantile(misses, (1 - share) / 2), quantile(misses, (1 + share) / 2), 0});
  return result;
}

auto share_inside(band const& b, std::span<double const> forecasts, std::span<double const> came,
                  bool relative) -> double {
  check(forecasts, came);
  auto inside = std::size_t{0};
  for (auto i = std::size_t{0}; i < came.size(); ++i) {
    auto const m = miss(forecasts[i], came[i], relative);
    inside += m >= b.low && m <= b.high ? 1 : 0;
  }
  return static_cast<double>(inside) / static_cast<double>(came.size());
}

}  // namespace forecast
