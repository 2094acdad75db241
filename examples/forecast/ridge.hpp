// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/data/batches.hpp>

#include <vector>

/// Ridge regression on whole windows of days.
namespace forecast {

/// y = bias + weight·x, x the features of a window, day after day, the oldest first.
struct window_regression {
  std::vector<double> weight;  ///< look_back · features
  double bias = 0;

  /// The forecast of the window whose last day is row `last`.
  [[nodiscard]] auto at(tessera::recording const& days, std::size_t last) const -> double;
};

/// Least squares with penalty·|weight|², the bias free of it, of the windows that lie in rows
/// [begin, end): the target is that of a window's last day. Solved in double by the normal
/// equations, with no seed: the same numbers always.
///
/// Cost    n·look_back·features² + (look_back·features)³ / 6 multiplications for n windows: sums
///         over windows a day later differ from those before by one day that goes and one that
///         comes
/// Errors  std::invalid_argument for rows that are not there, fewer than two windows, and a penalty
///         below 0
/// Source  Ridge(alpha=penalty) of scikit-learn; values by NumPy: tests/reference/forecast_ridge.py
[[nodiscard]] auto fit_ridge(tessera::recording const& days, tessera::recording_part const& learn,
                             std::size_t look_back, double penalty) -> window_regression;

}  // namespace forecast
