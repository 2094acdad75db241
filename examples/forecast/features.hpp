// SPDX-License-Identifier: MIT
#pragma once

#include <xtensor/xtensor.hpp>

#include <array>
#include <string>
#include <vector>

#include "prices.hpp"

/// What a model sees of a day.
namespace forecast {

inline constexpr auto feature_count = std::size_t{15};
inline constexpr auto feature_names = std::array<char const*, feature_count>{
    "return", "gap",    "range", "sma5",      "sma10",  "sma20",       "ema12",  "ema26",
    "macd",   "signal", "rsi14", "bollinger", "volume", "deviation10", "range22"};

/// Rows of features; row i is day first + i of the prices.
struct feature_table {
  std::vector<std::string> names;
  std::vector<std::string> dates;  ///< of the rows
  xt::xtensor<double, 2> values;   ///< (rows, names)
  std::size_t first = 0;           ///< days dropped: an indicator has too few days before them

  [[nodiscard]] auto rows() const -> std::size_t { return dates.size(); }
};

/// Days that `features` drops: the 22-day mean of range is the last indicator that can be filled.
inline constexpr auto warm_up = std::size_t{21};

/// The 15 features of every day, known at its close: a row is a function of the rows up to it.
///
/// An indicator that would divide 0 by 0 says nothing: the RSI of prices that stand still and the
/// position in Bollinger bands without width are 1/2, the change of a volume from or to 0 is 0.
/// Cost    79 numbers of history for each day; the averages of ema12, ema26 and signal reach back
///         to the first day
/// Errors  price_error for fewer than 22 days
/// Source  reference values by pandas: tests/reference/forecast_features.py
[[nodiscard]] auto features(price_table const& prices) -> feature_table;

}  // namespace forecast
