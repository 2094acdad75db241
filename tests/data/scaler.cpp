// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/golden.hpp>
#include <tessera/data/scaler.hpp>

using namespace tessera;
using table = xt::xtensor<double, 2>;

namespace {
void close(table const& got, std::vector<double> const& want) {
  REQUIRE(got.size() == want.size());
  for (auto i = std::size_t{0}; i < want.size(); ++i)
    CHECK(got.data()[i] == Approx(want[i]).margin(1e-12));
}
}  // namespace

TEST_CASE("scaler: as scikit-learn, and back") {
  auto const g = test::golden("scaler");
  auto x = table(std::array<std::size_t, 2>{7, 4});
  std::copy(g["x"].begin(), g["x"].end(), x.begin());
  auto const standard = standard_scaler::fit(x);
  close(standard.transform(x), g["standard"]);
  close(standard.inverse(standard.transform(x)), g["x"]);
  auto const min_max = min_max_scaler::fit(x);
  close(min_max.transform(x), g["min_max"]);
  close(min_max.inverse(min_max.transform(x)), g["x"]);
}
TEST_CASE("scaler: a column that does not change has a scale of 1, however its mean is rounded") {
  for (auto const value : {0.1, 0.7, 1.1, 1e-30, -3e20, 0.0})
    for (auto const rows : {3, 7, 10, 1000}) {
      auto const x = table(std::array<std::size_t, 2>{static_cast<std::size_t>(rows), 1}, value);
      auto const s = standard_scaler::fit(x);
      CHECK(s.scale(0) == 1);
      CHECK(s.transform(table{{value}})(0, 0) == Approx(0).margin(1e-12 * std::abs(value)));
    }
  CHECK(standard_scaler::fit(table{{1}, {1 + 1e-9}}).scale(0) == Approx(5e-10).epsilon(1e-6));
}
TEST_CASE("scaler: numbers far from 0 keep their mean and deviation") {
  // By fractions: mean 1e15 + 0.8, variance 1.76.
  auto const few =
      standard_scaler::fit(table{{1e15}, {1e15 + 3}, {1e15 - 1}, {1e15 + 1}, {1e15 + 1}});
  CHECK(few.scale(0) == Approx(std::sqrt(1.76)).epsilon(1e-12));
  auto many = table(std::array<std::size_t, 2>{100'000, 1});
  for (auto i = std::size_t{0}; i < many.shape(0); ++i)
    many(i, 0) = 1.7e15 + static_cast<double>(i % 8);
  CHECK(std::abs(standard_scaler::fit(many).shift(0) - 1.7e15 - 3.5) <= 0.25);
}
TEST_CASE("scaler: a range that is nothing but rounding stays what it is") {
  CHECK(min_max_scaler::fit(table{{0.3}, {0.1 + 0.2}}).scale(0) == 1);
  CHECK(min_max_scaler::fit(table{{0}, {2.2e-15}}).scale(0) == 1);
  CHECK(min_max_scaler::fit(table{{0}, {2.3e-15}}).scale(0) == 2.3e-15);
}
TEST_CASE("scaler: tables that do not fit are refused") {
  CHECK_THROWS_WITH(standard_scaler::fit(table(std::array<std::size_t, 2>{0, 3})),
                    "standard_scaler: expected a table with rows, got none");
  auto const s = min_max_scaler::fit(table{{1, 2}, {3, 4}});
  CHECK_THROWS_WITH(s.transform(table{{1, 2, 3}}), "scaler: fitted on 2 columns, got 3");
  CHECK_THROWS_AS(s.inverse(table{{1}}), std::invalid_argument);
}
TEST_CASE("scaler: NaN is passed over by a fit, and stays NaN") {
  auto const nan = std::numeric_limits<double>::quiet_NaN();
  auto const x = table{{1, 5, nan}, {nan, 6, nan}, {3, 7, nan}};
  auto const standard = standard_scaler::fit(x);
  CHECK(standard.shift(0) == 2);
  CHECK(standard.scale(0) == 1);
  auto const y = standard.transform(x);
  CHECK(y(0, 0) == -1);
  CHECK(std::isnan(y(1, 0)));
  CHECK(y(2, 0) == 1);
  CHECK(y(1, 1) == 0);
  CHECK(std::isnan(standard.shift(2)));
  auto const min_max = min_max_scaler::fit(x);
  CHECK(min_max.shift(0) == 1);
  CHECK(min_max.scale(0) == 2);
  CHECK(std::isnan(min_max.transform(x)(1, 0)));
}
TEST_CASE("scaler: an infinity is refused by its place, beside a gap too") {
  auto const inf = std::numeric_limits<double>::infinity();
  auto const nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH(
      standard_scaler::fit(table{{1, 2}, {nan, 4}, {3, inf}}),
      "standard_scaler: expected finite numbers or NaN, got inf in row 2 of column 1");
  CHECK_THROWS_WITH(
      min_max_scaler::fit(table{{1, nan}, {3, -inf}}),
      "min_max_scaler: expected finite numbers or NaN, got -inf in row 1 of column 1");
  CHECK_THROWS_AS(min_max_scaler::fit(table{{inf}}), std::invalid_argument);
}
