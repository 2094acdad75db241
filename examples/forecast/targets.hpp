// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "features.hpp"

/// What is forecast of a day t, over a horizon of h days.
namespace forecast {

enum class target_kind {
  value_return,  ///< c(t+h) / c(t) - 1
  direction,     ///< its sign: -1, 0 or 1
  range          ///< ln(high / low) of day t+h
};

/// "return", "direction" and "range".
[[nodiscard]] auto name_of(target_kind kind) -> std::string;
/// Errors  std::invalid_argument for another name
[[nodiscard]] auto target_of(std::string_view name) -> target_kind;

/// The target of every day that has one: value t is that of day t, days - horizon of them.
///
/// Errors  std::invalid_argument for a horizon of 0, and one that leaves no day
[[nodiscard]] auto targets(price_table const& prices, target_kind kind, std::size_t horizon)
    -> std::vector<double>;

/// Features, targets and what baselines need, row by row. Row i is day first + i.
struct samples {
  feature_table features;
  target_kind kind = target_kind::range;
  std::size_t horizon = 1;
  std::vector<double> target;                ///< of rows 0 .. features.rows() - horizon - 1
  std::vector<double> known;                 ///< the latest target known at the close of the row
  std::vector<std::array<double, 3>> range;  ///< of the day, and its 5- and 22-day means

  /// Rows with a target; those after them are forecast, not learned.
  [[nodiscard]] auto size() const -> std::size_t { return target.size(); }
};

/// Errors  as features and targets
[[nodiscard]] auto make_samples(price_table const& prices, target_kind kind, std::size_t horizon)
    -> samples;

}  // namespace forecast
