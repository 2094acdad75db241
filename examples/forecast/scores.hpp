// SPDX-License-Identifier: MIT
#pragma once

#include <span>

/// How far forecasts are from what came.
namespace forecast {

struct scores {
  std::size_t n = 0;
  double mse = 0, rmse = 0, mae = 0;
  double r2 = 0;                  ///< of the variance of what came; 0 where that is 0
  double mape = 0;                ///< a share, not percent, of the rows with |y| > epsilon
  std::size_t mape_rows = 0;      ///< how many those are; mape is 0 without any
  double direction_accuracy = 0;  ///< share of rows whose forecast has the sign of what came
};

/// Errors  std::invalid_argument for no rows, and forecasts that are not as many as what came
[[nodiscard]] auto scores_of(std::span<double const> forecasts, std::span<double const> came,
                             double epsilon = 1e-8) -> scores;

}  // namespace forecast
