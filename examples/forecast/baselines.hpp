// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/data/walk_forward.hpp>

#include <string>
#include <vector>

#include "targets.hpp"

/// What a model has to beat.
namespace forecast {

/// Forecasts of rows [begin, end) of a fold's held-out part.
struct baseline {
  std::string name;  ///< zero, mean, persistence, ar1, har or ridge
  std::vector<double> forecasts;
};

/// zero: 0. mean: of the training targets. persistence: the latest target known. ar1, har, ridge:
/// least squares of the target on the latest target known; on range and its 5- and 22-day means; on
/// all features, scaled to deviation 1 in training, with `penalty` times the squared coefficients.
///
/// All are fitted on the rows of `train`, whose targets end before `held_out` begins.
/// Errors  std::invalid_argument for parts that samples do not have, fewer than 32 training rows,
///         and a training part whose targets reach into the held-out one
/// Source  reference values by NumPy: tests/reference/forecast_baselines.py
[[nodiscard]] auto baselines(samples const& s, tessera::recording_part const& train,
                             tessera::recording_part const& held_out, double penalty = 1)
    -> std::vector<baseline>;

}  // namespace forecast
