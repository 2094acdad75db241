// SPDX-License-Identifier: MIT
#include "targets.hpp"

#include <support/catch.hpp>

#include <cmath>

#include "market.hpp"

using namespace forecast;

TEST_CASE("targets: by hand") {
  auto p = days_of(synthetic_market(10, 1), 0, 4);
  p.close = {100, 110, 99, 99};
  p.high = {120, 120, 130, 110};
  p.low = {90, 100, 90, 95};
  using list = std::vector<double>;
  CHECK(targets(p, target_kind::value_return, 1) == list{110.0 / 100 - 1, 99.0 / 110 - 1, 0});
  CHECK(targets(p, target_kind::value_return, 2) == list{99.0 / 100 - 1, 99.0 / 110 - 1});
  CHECK(targets(p, target_kind::direction, 1) == list{1, -1, 0});
  CHECK(targets(p, target_kind::range, 2) == list{std::log(130.0 / 90), std::log(110.0 / 95)});
}
TEST_CASE("targets: names, and horizons that are refused") {
  for (auto const name : {"return", "direction", "range"}) CHECK(name_of(target_of(name)) == name);
  CHECK_THROWS_WITH(target_of("price"), "target: expected return, direction or range, got price");
  auto const p = synthetic_market(40, 1);
  CHECK_THROWS_WITH(targets(p, target_kind::range, 0),
                    "targets: expected a horizon of at least 1, got 0");
  CHECK_THROWS_WITH(targets(p, target_kind::range, 40),
                    "targets: a horizon of 40 days leaves none of 40");
  CHECK(make_samples(p, target_kind::range, 18).size() == 1);
  CHECK_THROWS_WITH(make_samples(p, target_kind::range, 19),
                    "make_samples: a horizon of 19 days leaves no row with a target");
}
TEST_CASE("targets: samples stand in the rows of their features") {
  auto const p = synthetic_market(60, 4);
  auto const horizon = std::size_t{3};
  auto const range = make_samples(p, target_kind::range, horizon);
  auto const change = make_samples(p, target_kind::value_return, horizon);
  CHECK(range.size() == 60 - warm_up - horizon);
  CHECK(range.known.size() == range.features.rows());
  for (auto i = std::size_t{0}; i < range.features.rows(); ++i) {
    CHECK(range.known[i] == range.features.values(i, 2));
    CHECK(range.range[i][0] == range.features.values(i, 2));
    CHECK(range.range[i][2] == Approx(range.features.values(i, 14)).epsilon(1e-12));
    if (i >= horizon) CHECK(change.known[i] == change.target[i - horizon]);
    if (i >= horizon) CHECK(range.known[i] == range.target[i - horizon]);
  }
}
