// SPDX-License-Identifier: MIT
#include "scores.hpp"

#include <support/catch.hpp>
#include <support/golden.hpp>

#include <cmath>
#include <vector>

using namespace forecast;
using list = std::vector<double>;

TEST_CASE("scores: of NumPy") {
  auto const g = test::golden("forecast_scores");
  auto const s = scores_of(g["forecasts"], g["came"]);
  auto const got = list{
      s.mse, s.rmse, s.mae, s.r2, s.mape, static_cast<double>(s.mape_rows), s.direction_accuracy};
  for (auto i = std::size_t{0}; i < got.size(); ++i) CHECK(got[i] == Approx(g["scores"][i]));
}
TEST_CASE("scores: a perfect forecast, and one of the mean") {
  auto const y = list{0.01, -0.02, 0.03, 0};
  auto const perfect = scores_of(y, y);
  CHECK(perfect.rmse < 1e-6);
  CHECK(perfect.mae < 1e-6);
  CHECK(perfect.r2 == 1);
  CHECK(perfect.mape == 0);
  CHECK(perfect.mape_rows == 3);
  CHECK(perfect.direction_accuracy == 1);
  auto const mean = scores_of(list(4, 0.005), y);
  CHECK(std::abs(mean.r2) < 1e-12);
  CHECK(mean.direction_accuracy == 0.5);
}
TEST_CASE("scores: what came may be all the same") {
  auto const s = scores_of(list{1, 1}, list{0, 0});
  CHECK(s.mse == 1);
  CHECK(s.r2 == 0);
  CHECK(s.mape_rows == 0);
  CHECK(s.mape == 0);
}
TEST_CASE("scores: rows must be there, and be pairs") {
  CHECK_THROWS_WITH(scores_of(list{}, list{}), "scores: expected rows, got none");
  CHECK_THROWS_WITH(scores_of(list{1}, list{1, 2}), "scores: expected 2 forecasts, got 1");
}
