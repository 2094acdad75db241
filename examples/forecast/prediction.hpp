// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <vector>

#include "model_file.hpp"
#include "prices.hpp"

/// From prices to a forecast, for the command line and the server.
namespace forecast {

struct interval {
  double share = 0;
  double low = 0, high = 0;
};
struct prediction {
  std::string day;            ///< the last one that is known
  std::uint64_t horizon = 1;  ///< the forecast is of so many trading days later
  double value = 0;
  std::vector<interval> intervals;  ///< of 80 and 95 %
};

/// The features of the last look_back days, day after day, as a model is served.
///
/// Errors  price_error for prices that are none, and too few days: look_back and those that the
///         indicators take before
[[nodiscard]] auto last_features(model_description const& d, price_table const& prices)
    -> std::vector<double>;

/// A forecast with its bands.
[[nodiscard]] auto with_intervals(model_description const& d, std::string day, double forecast)
    -> prediction;

/// Whether its value and all ends of its intervals are.
[[nodiscard]] auto is_finite(prediction const& p) -> bool;

/// The same by a model of this process.
///
/// Errors  price_error where it is not finite
[[nodiscard]] auto predict_next(described_model const& m, price_table const& prices) -> prediction;

/// How far the last days are from what the model learned; nothing where there are fewer than a
/// window.
[[nodiscard]] auto drift_of(model_description const& d, price_table const& prices)
    -> std::optional<drift_report>;

[[nodiscard]] auto to_json(prediction const& p) -> nlohmann::ordered_json;

}  // namespace forecast
