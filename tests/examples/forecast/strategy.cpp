// SPDX-License-Identifier: MIT
#include "strategy.hpp"

#include <support/catch.hpp>
#include <support/golden.hpp>

#include <cmath>

using namespace forecast;
using list = std::vector<double>;

TEST_CASE("strategy: of NumPy") {
  auto const g = test::golden("forecast_scores");
  for (auto const* const threshold : {"0", "0.005"}) {
    auto const s = trade(g["forecasts"], g["came"], 5, std::strtod(threshold, nullptr));
    auto const got = list{s.total_return, s.volatility,       s.sharpe,
                          s.sortino,      s.maximum_drawdown, static_cast<double>(s.trades)};
    auto const& want = g[std::string{"strategy."} + threshold];
    for (auto i = std::size_t{0}; i < got.size(); ++i) CHECK(got[i] == Approx(want[i]));
    auto const& equity = g[std::string{"equity."} + threshold];
    for (auto i = std::size_t{0}; i < equity.size(); ++i)
      CHECK(s.equity[i] == Approx(equity[i]).epsilon(1e-12));
  }
}
TEST_CASE("strategy: by hand, with costs of 100 basis points") {
  auto const s = trade(list{1, 1, -1, 0, 0}, list{0.1, -0.1, 0.2, 0.5, -0.5}, 100);
  CHECK(s.positions == list{1, 1, -1, 0, 0});
  auto const want = list{0.1 - 0.01, -0.1, -0.2 - 0.02, -0.01, 0};
  for (auto i = std::size_t{0}; i < want.size(); ++i) CHECK(s.returns[i] == Approx(want[i]));
  CHECK(s.trades == 3);
  CHECK(s.equity.back() == Approx(1.09 * 0.9 * 0.78 * 0.99));
  CHECK(s.maximum_drawdown == Approx(1 - 0.9 * 0.78 * 0.99));
}
TEST_CASE("strategy: never in the market, nothing is made or lost") {
  auto const s = trade(list(10, 0.0), list(10, 0.01));
  CHECK(s.total_return == 0);
  CHECK(s.sharpe == 0);
  CHECK(s.sortino == 0);
  CHECK(s.maximum_drawdown == 0);
  CHECK(s.trades == 0);
}
TEST_CASE("strategy: who lost all stays there") {
  auto const s = trade(list{-1, -1, -1}, list{0.1, 1.5, -0.5}, 0);
  CHECK(s.equity == list{0.9, 0, 0});
  CHECK(s.total_return == -1);
  CHECK(s.maximum_drawdown == 1);
}
TEST_CASE("strategy: what is refused") {
  CHECK_THROWS_WITH(trade(list{}, list{}), "trade: expected days, got none");
  CHECK_THROWS_WITH(trade(list{1}, list{0.1, 0.2}), "trade: expected 2 forecasts, got 1");
  CHECK_THROWS_AS(trade(list{1}, list{0.1}, -1), std::invalid_argument);
  CHECK_THROWS_AS(trade(list{1}, list{-1.0}), std::invalid_argument);
}
