// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

/// How far what comes lies from its forecast.
namespace forecast {

/// Around a forecast: `low` and `high` times it, or added to it.
struct band {
  double share = 0;  ///< of the days that should lie inside
  double low = 0, high = 0;
  double inside = 0;  ///< share of other days that did
};

/// Quantiles of what forecasts missed by: bands of 50 to 99 %, narrow ones first.
///
/// Errors  std::invalid_argument for fewer than two forecasts, or not as many as days
[[nodiscard]] auto bands_of(std::span<double const> forecasts, std::span<double const> came,
                            bool relative) -> std::vector<band>;

/// The share of days inside a band.
[[nodiscard]] auto share_inside(band const& b, std::span<double const> forecasts,
                                std::span<double const> came, bool relative) -> double;

}  // namespace forecast
