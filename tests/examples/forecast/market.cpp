// SPDX-License-Identifier: MIT
#include "market.hpp"

#include <support/catch.hpp>

#include <cmath>

using namespace forecast;

namespace {

struct moments {
  double deviation = 0, kurtosis = 0, clustering = 0;  ///< of log returns
};

auto moments_of(price_table const& p) -> moments {
  auto r = std::vector<double>{};
  for (auto t = std::size_t{1}; t < p.size(); ++t)
    r.push_back(std::log(p.close[t] / p.close[t - 1]));
  auto const n = static_cast<double>(r.size());
  auto second = 0.0, fourth = 0.0, lagged = 0.0;
  for (auto const x : r) second += x * x / n;
  for (auto const x : r) fourth += x * x * x * x / n;
  for (auto t = std::size_t{1}; t < r.size(); ++t)
    lagged += (r[t] * r[t] - second) * (r[t - 1] * r[t - 1] - second) / n;
  return {std::sqrt(second), fourth / (second * second), lagged / (fourth - second * second)};
}

}  // namespace

TEST_CASE("market: a seed has the same market every time, another seed another") {
  auto const p = synthetic_market(300, 7);
  CHECK(synthetic_market(300, 7) == p);
  CHECK(days_of(synthetic_market(400, 7), 0, 300) == p);
  CHECK(synthetic_market(300, 8).close != p.close);
  // The bits of the first days, which every machine and compiler must give.
  CHECK(p.close[0] == 0x1.fa380ff858aa1p+9);
  CHECK(p.close[299] == 0x1.60c15cc4d5841p+9);
  CHECK(p.volume[299] == 0x1.e0f5ee54p+30);
}
TEST_CASE("market: its tables are what a file may hold") {
  auto const p = synthetic_market(3000, 1);
  CHECK_NOTHROW(check_prices(p, "market"));
  CHECK(p.dates[0] == "2000-01-03");
  CHECK(p.dates[4] == "2000-01-07");
  CHECK(p.dates[5] == "2000-01-10");
  for (auto t = std::size_t{0}; t < p.size(); ++t) {
    CHECK((p.low[t] <= p.open[t] && p.open[t] <= p.high[t]));
    CHECK((p.low[t] <= p.close[t] && p.close[t] <= p.high[t]));
  }
}
TEST_CASE("market: quiet and wild times cluster, as long as alpha lets them") {
  auto const clustered = moments_of(synthetic_market(20'000, 3));
  CHECK(clustered.deviation == Approx(0.011).epsilon(0.15));
  CHECK(clustered.kurtosis > 3.5);
  CHECK(clustered.clustering > 0.1);
  auto const even =
      moments_of(synthetic_market(20'000, 3, {.omega = 1.21e-4, .alpha = 0, .beta = 0}));
  CHECK(even.deviation == Approx(0.011).epsilon(0.03));
  CHECK(even.kurtosis == Approx(3).margin(0.15));
  CHECK(std::abs(even.clustering) < 0.03);
}
TEST_CASE("market: what is no market is refused") {
  CHECK_THROWS_AS(synthetic_market(0, 1), std::invalid_argument);
  CHECK_THROWS_AS(synthetic_market(10, 1, {.alpha = 0.5, .beta = 0.5}), std::invalid_argument);
  CHECK_THROWS_AS(synthetic_market(10, 1, {.omega = 0}), std::invalid_argument);
}
