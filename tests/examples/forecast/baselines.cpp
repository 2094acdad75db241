// SPDX-License-Identifier: MIT
#include "baselines.hpp"

#include <support/catch.hpp>
#include <support/golden.hpp>

#include <map>

#include "market.hpp"
#include "parts.hpp"
#include "scores.hpp"

using namespace forecast;

namespace {

/// Mean squared errors of the folds of a year each, by name.
auto errors(samples const& s) -> std::map<std::string, std::vector<double>> {
  auto result = std::map<std::string, std::vector<double>>{};
  auto const split = tessera::split_forward(s.size(), {.horizon = s.horizon, .gap = s.horizon});
  for (auto const& f : split.folds) {
    auto const came = std::span{s.target}.subspan(f.held_out.begin, f.held_out.length());
    for (auto const& b : baselines(s, f.train, f.held_out))
      result[b.name].push_back(scores_of(b.forecasts, came).mse);
  }
  return result;
}

auto mean(std::vector<double> const& x) -> double {
  auto sum = 0.0;
  for (auto const v : x) sum += v;
  return sum / static_cast<double>(x.size());
}

}  // namespace

TEST_CASE("baselines: least squares of NumPy, for two indexes, targets and horizons") {
  auto const g = test::golden("forecast_baselines");
  for (auto const index : {"sp500", "nasdaq"})
    for (auto const kind : {target_kind::range, target_kind::value_return})
      for (auto const horizon : {std::size_t{1}, std::size_t{5}}) {
        auto const s = make_samples(parts::index(index), kind, horizon);
        auto const found = errors(s);
        CHECK(found.size() == 6);
        for (auto const& [name, values] : found) {
          auto const& want = g[std::string{index} + "." + name_of(kind) + "." +
                               std::to_string(horizon) + "." + name];
          REQUIRE(values.size() == want.size());
          for (auto i = std::size_t{0}; i < want.size(); ++i)
            CHECK(values[i] == Approx(want[i]).epsilon(1e-7));
        }
      }
}
TEST_CASE("baselines: the known figures of the range of tomorrow") {
  auto const within = [](double got, double known) {
    CHECK(std::abs(got - known) < 0.0005e-5 + known * 0.003);
  };
  auto const sp500 = errors(make_samples(parts::index("sp500"), target_kind::range, 1));
  within(mean(sp500.at("mean")), 6.31e-5);
  within(mean(sp500.at("persistence")), 2.38e-5);
  within(mean(sp500.at("har")), 1.82e-5);
  auto const nasdaq = errors(make_samples(parts::index("nasdaq"), target_kind::range, 1));
  within(mean(nasdaq.at("mean")), 10.1e-5);
  within(mean(nasdaq.at("persistence")), 3.63e-5);
  within(mean(nasdaq.at("har")), 2.63e-5);
}
TEST_CASE("baselines: no forecast changes with what comes after the training part") {
  auto const p = synthetic_market(600, 5);
  auto s = make_samples(p, target_kind::range, 2);
  auto const before = baselines(s, {0, 0, 400}, {0, 402, 500});
  for (auto i = std::size_t{400}; i < s.size(); ++i) s.target[i] = 1e3;
  auto const after = baselines(s, {0, 0, 400}, {0, 402, 500});
  for (auto b = std::size_t{0}; b < before.size(); ++b)
    CHECK(before[b].forecasts == after[b].forecasts);
}
TEST_CASE("baselines: rows without a target yet are forecast too") {
  auto const s = make_samples(synthetic_market(300, 5), target_kind::range, 3);
  auto const all = s.features.rows();
  for (auto const& b : baselines(s, {0, 0, 200}, {0, 250, all}))
    CHECK(b.forecasts.size() == all - 250);
}
TEST_CASE("baselines: features that do not change, or are sums of others, are no trouble") {
  auto s = make_samples(synthetic_market(300, 6), target_kind::range, 1);
  for (auto i = std::size_t{0}; i < s.features.rows(); ++i) {
    s.features.values(i, 3) = 1;
    s.features.values(i, 4) = s.features.values(i, 0) + s.features.values(i, 1);
  }
  for (auto const penalty : {0.0, 1.0})
    for (auto const& b : baselines(s, {0, 0, 200}, {0, 201, 270}, penalty))
      for (auto const y : b.forecasts) CHECK(std::abs(y) < 1);
}
TEST_CASE("baselines: parts that are not there, or that leak, are refused") {
  auto const s = make_samples(synthetic_market(300, 5), target_kind::range, 3);
  CHECK_THROWS_WITH(baselines(s, {0, 0, 200}, {0, 202, 250}),
                    "baselines: training targets reach into the held-out rows, which begin with "
                    "row 202");
  CHECK_NOTHROW(baselines(s, {0, 0, 200}, {0, 203, 250}));
  CHECK_THROWS_WITH(baselines(s, {0, 0, 10}, {0, 203, 250}),
                    "baselines: expected at least 32 training rows, got 10");
  CHECK_THROWS_AS(baselines(s, {0, 0, 290}, {0, 203, 250}), std::invalid_argument);
  CHECK_THROWS_AS(baselines(s, {0, 0, 200}, {0, 203, 999}), std::invalid_argument);
  CHECK_THROWS_AS(baselines(s, {0, 0, 200}, {0, 203, 250}, -1), std::invalid_argument);
}
