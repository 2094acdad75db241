// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "prices.hpp"

/// What the tests of the forecasting example share.
namespace parts {

/// "sp500" or "nasdaq".
[[nodiscard]] inline auto index(std::string const& name) -> forecast::price_table {
  return forecast::read_prices(std::string{FORECAST_DATA} + "/" + name + ".csv.gz");
}

}  // namespace parts
