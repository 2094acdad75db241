// SPDX-License-Identifier: MIT
#include "strategy.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

namespace forecast {
namespace {

void check(std::span<double const> forecasts, std::span<double const> returns, double cost) {
  if (returns.empty()) throw std::invalid_argument("trade: expected days, got none");
  if (forecasts.size() != returns.size())
    throw std::invalid_argument("trade: expected " + std::to_string(returns.size()) +
                                " forecasts, got " + std::to_string(forecasts.size()));
  if (not(cost >= 0))
    throw std::invalid_argument("trade: expected a cost of at least 0 basis points, got " +
                                std::to_string(cost));
  for (auto const r : returns)
    if (not(r > -1)) throw std::invalid_argument("trade: a return of " + std::to_string(r));
}

/// Positions, returns and equity, day by day.
void run(strategy& s, std::span<double const> forecasts, std::span<double const> returns,
         double cost, double threshold) {
  auto held = 0.0;
  auto equity = 1.0;
  auto high = 1.0;
  for (auto i = std::size_t{0}; i < returns.size(); ++i) {
    auto const position = forecasts[i] > threshold ? 1.0 : forecasts[i] < -threshold ? -1.0 : 0.0;
    auto const change = std::abs(position - held);
    auto const made = position * returns[i] - change * cost * 1e-4;
    if (change > 0) ++s.trades;
    held = position;
    equity *= std::max(0.0, 1 + made);  // who lost all trades no more
    high = std::max(high, equity);
    s.positions.push_back(position);
    s.returns.push_back(made);
    s.equity.push_back(equity);
    s.maximum_drawdown = std::max(s.maximum_drawdown, 1 - equity / high);
  }
  s.total_return = equity - 1;
}

}  // namespace

auto trade(std::span<double const> forecasts, std::span<double const> daily_returns, double cost,
           double threshold) -> strategy {
  check(forecasts, daily_returns, cost);
  auto s = strategy{};
  run(s, forecasts, daily_returns, cost, threshold);
  auto const n = static_cast<double>(s.returns.size());
  auto sum = 0.0;
  for (auto const r : s.returns) sum += r;
  auto const mean = sum / n;
  auto spread = 0.0;
  auto losses = 0.0;
  for (auto const r : s.returns) {
    spread += (r - mean) * (r - mean);
    losses += std::min(r, 0.0) * std::min(r, 0.0);
  }
  auto const year = std::sqrt(trading_days);
  auto const deviation = n > 1 ? std::sqrt(spread / (n - 1)) : 0;
  s.volatility = deviation * year;
  if (deviation > 0) s.sharpe = mean / deviation * year;
  if (losses > 0) s.sortino = mean / std::sqrt(losses / n) * year;
  return s;
}

}  // namespace forecast
