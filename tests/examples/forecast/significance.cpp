// SPDX-License-Identifier: MIT
#include "significance.hpp"

#include <support/catch.hpp>
#include <support/golden.hpp>
#include <tessera/random/torch.hpp>

#include <cmath>
#include <limits>

using namespace forecast;
using list = std::vector<double>;

TEST_CASE("significance: the statistics and p-values of SciPy") {
  auto const g = test::golden("forecast_significance");
  for (auto const horizon : {1U, 3U, 10U})
    for (auto const c : {correction::none, correction::harvey}) {
      auto const name = std::string{c == correction::none ? "none." : "harvey."};
      auto const& want = g[name + std::to_string(horizon)];
      auto const got = diebold_mariano(g["a"], g["b"], g["came"], horizon, c);
      CHECK(got.difference == Approx(want[0]).epsilon(1e-10));
      CHECK(got.statistic == Approx(want[1]).epsilon(1e-10));
      CHECK(got.p_value == Approx(want[2]).epsilon(1e-9));
      auto const robust = g["robust." + name + std::to_string(horizon)][0];
      CHECK(got.p_value_robust == Approx(robust).epsilon(1e-9));
      auto const turned = diebold_mariano(g["b"], g["a"], g["came"], horizon, c);
      CHECK(turned.statistic == -got.statistic);
      CHECK(turned.p_value == got.p_value);
    }
}
TEST_CASE("significance: equal forecasts differ by nothing") {
  auto const a = list{1, 2, 3, 4, 5, 6, 7, 8, 9};
  auto const r = diebold_mariano(a, a, list(9, 3.0), 2);
  CHECK(r.difference == 0);
  CHECK(r.statistic == 0);
  CHECK(r.p_value == 1);
}
TEST_CASE("significance: forecasts of equal worth differ at 5 % in 5 % of tests") {
  auto random = tessera::torch_generator{9};
  auto found = 0;
  constexpr auto tests = 2000;
  for (auto i = 0; i < tests; ++i) {
    auto a = list(250), b = list(250);
    random.normal(a.data(), a.size());
    random.normal(b.data(), b.size());
    found += diebold_mariano(a, b, list(250, 0.0), 1).p_value < 0.05 ? 1 : 0;
  }
  CHECK(found > 0.05 * tests - 4 * std::sqrt(0.05 * 0.95 * tests));
  CHECK(found < 0.05 * tests + 4 * std::sqrt(0.05 * 0.95 * tests));
}
TEST_CASE("significance: losses that follow each other need the robust p-value") {
  auto random = tessera::torch_generator{10};
  auto naive = 0, robust = 0;
  constexpr auto tests = 500;
  constexpr auto n = std::size_t{252};
  for (auto i = 0; i < tests; ++i) {
    auto noise = list(2 * n);
    random.normal(noise.data(), noise.size());
    auto a = list(n), b = list(n);  // a wild day is followed by one for both of them
    auto x = 0.0;
    for (auto t = std::size_t{0}; t < n; ++t) {
      x = 0.7 * x + noise[t];
      a[t] = std::sqrt(10 + x);
      b[t] = std::sqrt(10.0);
    }
    auto const r = diebold_mariano(a, b, list(n, 0.0), 1);
    naive += r.p_value < 0.05 ? 1 : 0;
    robust += r.p_value_robust < 0.05 ? 1 : 0;
  }
  CHECK(naive > 0.3 * tests);
  CHECK(robust < 0.15 * tests);
}
TEST_CASE("significance: what is refused") {
  auto const nine = list(9, 1.0);
  CHECK_THROWS_WITH(diebold_mariano(list(7), list(7), list(7), 1),
                    "diebold_mariano: expected at least 8 rows, got 7");
  CHECK_THROWS_WITH(diebold_mariano(nine, list(8), nine, 1),
                    "diebold_mariano: expected 9 forecasts of each, got 9 and 8");
  CHECK_THROWS_AS(diebold_mariano(nine, nine, nine, 0), std::invalid_argument);
  CHECK_THROWS_AS(diebold_mariano(nine, nine, nine, 4), std::invalid_argument);
  CHECK_THROWS_WITH(
      diebold_mariano(list(9, std::numeric_limits<double>::quiet_NaN()), nine, nine, 1),
      "diebold_mariano: expected finite numbers");
}
TEST_CASE("significance: a verdict claims nothing that a test denies") {
  auto const test = [](char const* against, double difference, double p) {
    return comparison{
        .against = against,
        .result = {
            .difference = difference, .statistic = 0, .p_value = p, .p_value_robust = p, .n = 99}};
  };
  auto const better = judge({test("HAR", -1, 0.0123)});
  CHECK(better.skill);
  CHECK(better.text == "better than HAR, p = 0.0123");
  CHECK(judge({test("HAR", -1, 0.012), test("zero", -1, 1e-6)}).text ==
        "better than HAR, p = 0.012; better than zero, p = 1e-06");
  auto const even = judge({test("HAR", -1, 0.05)});
  CHECK_FALSE(even.skill);
  CHECK(even.text == "no skill");
  CHECK(even.reason == "no better than HAR, p = 0.05");
  auto const worse = judge({test("HAR", 1, 0.001)});
  CHECK(worse.text == "no skill");
  CHECK(worse.reason == "worse than HAR, p = 0.001");
  // One test that fails is enough.
  auto const mixed = judge({test("HAR", -1, 0.4), test("zero", -1, 1e-6)});
  CHECK(mixed.text == "no skill");
  CHECK(mixed.reason == "no better than HAR, p = 0.4");
  // So is the stricter p-value of one.
  for (auto const stricter_robust : {false, true}) {
    auto one = test("HAR", -1, 1e-6);
    (stricter_robust ? one.result.p_value_robust : one.result.p_value) = 0.06;
    CHECK(stricter(one.result) == 0.06);
    CHECK(judge({one}).text == "no skill");
    CHECK(judge({one}).reason == "no better than HAR, p = 0.06");
  }
  CHECK_FALSE(judge({test("HAR", -1, std::numeric_limits<double>::quiet_NaN())}).skill);
  CHECK_THROWS_AS(judge({}), std::invalid_argument);
}
