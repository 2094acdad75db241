// SPDX-License-Identifier: MIT
#include "drift.hpp"

#include <support/catch.hpp>
#include <support/golden.hpp>
#include <tessera/random/torch.hpp>

#include <xtensor/xview.hpp>

#include <algorithm>
#include <limits>

#include "features.hpp"
#include "market.hpp"

using namespace forecast;

namespace {

using table = xt::xtensor<double, 2>;

constexpr auto window = std::size_t{60};
constexpr auto trained = std::size_t{5000};
constexpr auto later = std::size_t{100};  // windows

auto rows_of(table const& all, std::size_t begin, std::size_t count) -> table {
  return xt::view(all, xt::range(begin, begin + count), xt::all());
}

/// A market, statistics of its first rows, and as many later windows.
struct watched {
  explicit watched(std::uint64_t seed) {
    auto const f = features(synthetic_market(trained + later * window + warm_up, seed));
    rows = f.values;
    statistics = measure_training(rows_of(rows, 0, trained), f.names, window);
  }
  [[nodiscard]] auto later_window(std::size_t i) const -> table {
    return rows_of(rows, trained + i * window, window);
  }
  /// Windows that are flagged after `change`.
  template <class F> [[nodiscard]] auto flagged(F const& change) const -> int {
    auto count = 0;
    for (auto i = std::size_t{0}; i < later; ++i) {
      auto w = later_window(i);
      change(w);
      count += measure_drift(statistics, w).drifted ? 1 : 0;
    }
    return count;
  }

  table rows;
  training_statistics statistics;
};

}  // namespace

TEST_CASE("drift: distances of SciPy and NumPy") {
  auto const g = test::golden("forecast_drift");
  for (auto const* const name : {"near", "far", "ties"}) {
    auto const part = [&](char const* what) { return g[std::string{name} + what]; };
    auto const d = kolmogorov_smirnov(part(".a"), part(".b"));
    CHECK(d == Approx(part(".ks")[0]).epsilon(1e-12));
    CHECK(kolmogorov_smirnov(part(".b"), part(".a")) == d);
    CHECK(kolmogorov_smirnov_p(d, part(".a").size(), part(".b").size()) ==
          Approx(part(".ks")[1]).epsilon(1e-9));
  }
  CHECK(stability_index(g["p"], g["q"]) == Approx(g["psi"][0]).epsilon(1e-12));
  CHECK(stability_index(g["p"], g["p"]) == 0);
  CHECK(kolmogorov_smirnov({1, 2, 3}, {1, 2, 3}) == 0);
  CHECK(kolmogorov_smirnov({1, 2}, {3, 4, 5}) == 1);
  CHECK(kolmogorov_smirnov_p(0, 10, 10) == 1);
}
TEST_CASE("drift: clean windows raise the flag no more often than said") {
  auto all = 0;
  for (auto seed = std::uint64_t{1}; seed <= 10; ++seed) {
    auto const flagged = watched{seed}.flagged([](table&) {});
    CHECK(flagged <= 11);  // 99 of 100 draws of 100 at 5 % have no more
    all += flagged;
  }
  CHECK(all <= 50);
  CHECK(all >= 1);  // it is no flag that never rises
}
TEST_CASE("drift: clean windows of shuffled training rows raise it no more often") {
  auto const w = watched{1};
  auto random = tessera::torch_generator{5};
  auto flagged = 0;
  for (auto i = 0; i < 100; ++i) {
    auto some = table(std::array{window, feature_count});
    for (auto t = std::size_t{0}; t < window; ++t)
      xt::view(some, t, xt::all()) = xt::view(w.rows, random.randint(trained), xt::all());
    flagged += measure_drift(w.statistics, some).drifted ? 1 : 0;
  }
  CHECK(flagged <= 5);
}
TEST_CASE("drift: planted drift raises the flag") {
  auto const w = watched{3};
  auto const column = [](table& t, std::size_t j) { return xt::view(t, xt::all(), j); };
  CHECK(w.flagged([&](table& t) { column(t, 0) += 0.02; }) >= 98);  // two deviations of a return
  CHECK(w.flagged([&](table& t) { column(t, 12) *= 100; }) >= 98);  // percent for shares
  CHECK(w.flagged([&](table& t) { column(t, 10) = 0.5; }) >= 98);   // stuck
  CHECK(w.flagged([&](table& t) { t *= 3; }) >= 98);
  auto const report = [&] {
    auto changed = w.later_window(0);
    column(changed, 7) += 1;
    return measure_drift(w.statistics, changed);
  }();
  REQUIRE(report.drifted);
  auto const worst = std::ranges::max_element(
      report.columns, [](auto const& a, auto const& b) { return a.score < b.score; });
  CHECK(worst->name == "ema26");
  CHECK(worst->ks == 1);
  CHECK(worst->p_value < 1e-6);
  CHECK(worst->psi > 1);
  CHECK(report.score == worst->score);
}
TEST_CASE("drift: what is kept is small, and enough") {
  auto const s = watched{2}.statistics;
  REQUIRE(s.columns.size() == feature_count);
  for (auto const& c : s.columns) {
    CHECK(c.sample.size() == 500);
    CHECK(std::ranges::is_sorted(c.sample));
    CHECK(c.edges.size() == 9);
    auto sum = 0.0;
    for (auto const share : c.shares) sum += share;
    CHECK(sum == Approx(1));
    CHECK(c.psi_unit > 0);
    CHECK(c.ks_unit > 0);
  }
}
TEST_CASE("drift: a column that never changed may go on so, and may not begin to") {
  auto random = tessera::torch_generator{4};
  auto rows = table(std::array<std::size_t, 2>{1000, 2});
  random.normal(rows.data(), rows.size());
  xt::view(rows, xt::all(), 1) = 7.0;
  auto const s = measure_training(rows, {"a", "b"}, 20);
  auto part = rows_of(rows, 100, 20);
  CHECK_FALSE(measure_drift(s, part).drifted);
  part(3, 1) = 8;
  CHECK(measure_drift(s, part).drifted);
}
TEST_CASE("drift: what is refused") {
  auto random = tessera::torch_generator{4};
  auto rows = table(std::array<std::size_t, 2>{800, 2});
  random.normal(rows.data(), rows.size());
  CHECK_THROWS_WITH(measure_training(rows, {"a"}, 20),
                    "measure_training: expected 2 names, one for each column, got 1");
  CHECK_THROWS_WITH(measure_training(rows, {"a", "b"}, 21),
                    "measure_training: expected at least 40 windows of 21 rows, got 800 rows");
  CHECK_THROWS_AS(measure_training(rows, {"a", "b"}, 5), std::invalid_argument);
  CHECK_THROWS_AS(measure_training(rows, {"a", "b"}, 20, 0), std::invalid_argument);
  auto const s = measure_training(rows, {"a", "b"}, 20);
  CHECK_THROWS_WITH(measure_drift(s, rows_of(rows, 0, 19)),
                    "measure_drift: expected 20 rows of 2 columns, got 19 of 2");
  auto part = rows_of(rows, 0, 20);
  part(4, 1) = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_AS(measure_drift(s, part), std::invalid_argument);
}
