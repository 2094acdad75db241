// SPDX-License-Identifier: MIT
#include "ridge.hpp"

#include <support/catch.hpp>
#include <support/golden.hpp>

#include <cmath>
#include <limits>

using namespace forecast;

namespace {

/// As tests/reference/forecast_ridge.py has it.
auto number(std::size_t i, std::size_t k) -> float {
  return (static_cast<float>((7919 * i * i + 104729 * k + 31 * i) % 257) - 128) / 64;
}
auto known_days() -> tessera::recording {
  auto days = tessera::recording{xt::xtensor<float, 2>(std::array<std::size_t, 2>{90, 3}),
                                 xt::xtensor<float, 2>(std::array<std::size_t, 2>{90, 1})};
  for (auto r = std::size_t{0}; r < 90; ++r) {
    for (auto f = std::size_t{0}; f < 3; ++f) days.inputs(r, f) = number(r, f);
    days.targets(r, 0) = number(r, 7);
  }
  return days;
}

}  // namespace

TEST_CASE("ridge: weights and bias of NumPy, for windows that begin in the middle") {
  auto const g = test::golden("forecast_ridge");
  auto const days = known_days();
  for (auto const* const penalty : {"0.5", "40"}) {
    auto const got = fit_ridge(days, {0, 10, 70}, 5, std::stod(penalty));
    auto const& want = g[std::string{"weight."} + penalty];
    REQUIRE(got.weight.size() == want.size());
    for (auto i = std::size_t{0}; i < want.size(); ++i)
      CHECK(got.weight[i] == Approx(want[i]).epsilon(1e-9).margin(1e-11));
    CHECK(got.bias == Approx(g[std::string{"bias."} + penalty][0]).epsilon(1e-9));
    auto y = got.bias;
    for (auto i = std::size_t{0}; i < want.size(); ++i)
      y += want[i] * static_cast<double>(number(76 + i / 3, i % 3));
    CHECK(got.at(days, 80) == Approx(y).epsilon(1e-9));
  }
}
TEST_CASE(
    "ridge: neither the days before and behind, nor targets of no whole window, are learned") {
  auto days = known_days();
  auto const before = fit_ridge(days, {0, 10, 70}, 5, 1);
  for (auto r = std::size_t{0}; r < 90; ++r) {
    if (r < 10 || r >= 70) days.inputs(r, 1) = 1e3F;
    if (r < 14 || r >= 70) days.targets(r, 0) = 1e3F;
  }
  auto const after = fit_ridge(days, {0, 10, 70}, 5, 1);
  CHECK(before.weight == after.weight);
  CHECK(before.bias == after.bias);
}
TEST_CASE("ridge: more columns than windows, and columns that are alike, still have an answer") {
  auto days = known_days();
  for (auto r = std::size_t{0}; r < 90; ++r) days.inputs(r, 2) = days.inputs(r, 1);
  for (auto const penalty : {0.0, 1e-3, 1e6})
    for (auto const w : fit_ridge(days, {0, 0, 45}, 30, penalty).weight) CHECK(std::isfinite(w));
}
TEST_CASE("ridge: what it refuses") {
  auto const days = known_days();
  CHECK_THROWS_WITH(fit_ridge(days, {0, 10, 15}, 5, 1), Catch::Contains("two windows of 5 days"));
  CHECK_THROWS_WITH(fit_ridge(days, {0, 10, 91}, 5, 1), Catch::Contains("of 90"));
  CHECK_THROWS_WITH(fit_ridge(days, {0, 10, 70}, 0, 1), Catch::Contains("windows"));
  CHECK_THROWS_WITH(fit_ridge(days, {0, 10, 70}, 5, -1), Catch::Contains("penalty"));
  CHECK_THROWS_WITH(fit_ridge(days, {0, 10, 70}, 5, std::numeric_limits<double>::quiet_NaN()),
                    Catch::Contains("penalty"));
}
