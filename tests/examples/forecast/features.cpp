// SPDX-License-Identifier: MIT
#include "features.hpp"

#include <support/catch.hpp>
#include <support/golden.hpp>

#include "market.hpp"
#include "parts.hpp"

using namespace forecast;

TEST_CASE("features: the values of pandas, for two indexes") {
  auto const g = test::golden("forecast_features");
  for (auto const index : {"sp500", "nasdaq"}) {
    auto const table = features(parts::index(index));
    auto const name = std::string{index} + ".";
    REQUIRE(std::vector{static_cast<double>(table.rows()), static_cast<double>(table.first)} ==
            g[name + "rows"]);
    for (auto j = std::size_t{0}; j < feature_count; ++j) {
      auto const& want = g[name + table.names[j]];
      auto const last = std::size_t{5};
      for (auto i = std::size_t{0}; i < want.size(); ++i) {
        auto const row = i + last < want.size() ? i : table.rows() - want.size() + i;
        INFO(name << table.names[j] << " row " << row);
        CHECK(table.values(row, j) == Approx(want[i]).epsilon(1e-9).margin(1e-13));
      }
    }
  }
}
TEST_CASE("features: rows have the dates of their days") {
  auto const prices = parts::index("sp500");
  auto const table = features(prices);
  CHECK(table.first == warm_up);
  CHECK(table.rows() == 5010);
  CHECK(table.dates.front() == prices.dates[warm_up]);
  CHECK(table.dates.back() == "2018-12-31");
  CHECK(table.names.size() == feature_count);
}
TEST_CASE("features: prices that stand still say nothing, and nothing is not a number") {
  auto p = synthetic_market(30, 1);
  for (auto* const list : {&p.open, &p.high, &p.low, &p.close}) list->assign(p.size(), 7.0);
  p.volume.assign(p.size(), 0.0);
  auto const table = features(p);
  for (auto i = std::size_t{0}; i < table.rows(); ++i)
    for (auto j = std::size_t{0}; j < feature_count; ++j) {
      auto const half = table.names[j] == "rsi14" || table.names[j] == "bollinger";
      CHECK(table.values(i, j) == Approx(half ? 0.5 : 0.0).margin(1e-15));
    }
}
TEST_CASE("features: too few days are refused, the fewest give one row") {
  CHECK(features(synthetic_market(22, 1)).rows() == 1);
  CHECK_THROWS_WITH(features(synthetic_market(21, 1)),
                    "features: expected at least 22 days, got 21");
}
