// SPDX-License-Identifier: MIT
#pragma once

#include <span>
#include <vector>

/// What trading by forecasts would have made.
namespace forecast {

inline constexpr auto trading_days = 252.0;  ///< in a year

struct strategy {
  std::vector<double> positions;  ///< 1 long, 0 flat, -1 short, held over the day that comes
  std::vector<double> returns;    ///< of each day, after costs
  std::vector<double> equity;     ///< after each day, from 1 before the first
  double total_return = 0;
  double volatility = 0;        ///< of a year
  double sharpe = 0;            ///< of a year; 0 where returns do not change
  double sortino = 0;           ///< of a year; 0 where no return is below 0
  double maximum_drawdown = 0;  ///< largest fall from a high, as a share of it
  std::size_t trades = 0;       ///< changes of position
};

/// Long where the forecast return is above `threshold`, short where below -threshold, else flat.
/// A change of position costs `cost` basis points for each unit: from long to short two. A day's
/// return is one day's: forecasts of a longer horizon are traded anew every day.
///
/// Sharpe is mean / sample deviation, Sortino mean / root of the mean squared loss, both
/// ·sqrt(252). Errors  std::invalid_argument for no days, other numbers of forecasts than returns,
/// a cost below
///         0, and a return of -1 or below
[[nodiscard]] auto trade(std::span<double const> forecasts, std::span<double const> daily_returns,
                         double cost = 5, double threshold = 0) -> strategy;

}  // namespace forecast
