// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/golden.hpp>
#include <tessera/optimize/parzen_estimator.hpp>

using namespace tessera;

namespace {

auto space() -> search_space {
  return search_space{}
      .uniform("x", -5, 10)
      .log_uniform("rate", 1e-5, 1)
      .integer("layers", 1, 90)
      .choice("model", {"a", "b", "c", "d"});
}
/// Rows of reference values as coordinates.
auto points(std::vector<double> const& values) -> std::vector<std::vector<double>> {
  auto result = std::vector<std::vector<double>>{};
  for (auto i = std::size_t{0}; i < values.size(); i += 4)
    result.push_back({values[i], std::log(values[i + 1]), values[i + 2], values[i + 3]});
  return result;
}

}  // namespace

TEST_CASE("parzen_estimator: the densities of Optuna") {
  auto const reference = test::golden("parzen_estimator");
  auto const parameters = space();
  auto const asked = points(reference["asked"]);
  REQUIRE(asked.size() == 20);
  for (auto const* const n : {"0", "1", "2", "9", "26", "40"}) {
    auto const seen = points(reference[std::string{"seen_"} + n]);
    auto const want = reference[std::string{"density_"} + n];
    auto const estimator = parzen_estimator(parameters, seen);
    for (auto i = std::size_t{0}; i < asked.size(); ++i)
      CHECK(estimator.density(asked[i]) == Approx(want[i]).epsilon(1e-11));
  }
}
TEST_CASE("parzen_estimator: ends whose sum is no number") {
  auto const parameters = search_space{}.uniform("x", 1e308, 1.7e308);
  auto const estimator = parzen_estimator(parameters, {{1.2e308}, {1.3e308}});
  auto random = draws(1, 0);
  for (auto i = 0; i < 20; ++i) {
    auto const x = estimator.draw(random)[0];
    CHECK(x >= 1e308);
    CHECK(x <= 1.7e308);
  }
}
TEST_CASE("parzen_estimator: what is drawn has its density, and lies within") {
  auto const one = search_space{}.integer("n", 1, 5);
  auto const two = search_space{}.choice("c", {"a", "b", "c"});
  auto random = draws(1, 0);
  for (auto const* const parameters : {&one, &two}) {
    auto const last = parameters == &one ? 4.0 : 2.0;
    auto const estimator = parzen_estimator(*parameters, {{1}, {last}, {last}});
    auto const first = parameters == &one ? 1.0 : 0.0;
    auto counts = std::map<double, double>{};
    constexpr auto n = 20'000;
    for (auto i = 0; i < n; ++i) counts[estimator.draw(random)[0]] += 1.0 / n;
    auto sum = 0.0;
    for (auto const& [value, share] : counts) {
      CHECK(estimator.density({value}) == Approx(share).margin(0.015));
      sum += estimator.density({value});
    }
    CHECK(sum == Approx(1));
    CHECK(counts.begin()->first == first);
  }
}
TEST_CASE("parzen_estimator: a density over numbers adds up to 1") {
  auto const parameters = search_space{}.log_uniform("rate", 1e-3, 1);
  auto const estimator = parzen_estimator(parameters, {{std::log(0.9)}, {std::log(2e-3)}});
  auto sum = 0.0;
  constexpr auto cells = 4000;
  auto const width = std::log(1e3) / cells;
  for (auto i = 0; i < cells; ++i)
    sum += width * estimator.density({std::log(1e-3) + width * (i + 0.5)});
  CHECK(sum == Approx(1).epsilon(1e-5));
}
TEST_CASE("parzen_estimator: its logarithm is finite where the density of wide parameters is 0") {
  auto const wide = search_space{}.uniform("x", -1e200, 1e200).uniform("y", -1e200, 1e200);
  auto const estimator = parzen_estimator(wide, {{1e199, 2e199}, {-1e199, 3e199}});
  CHECK(estimator.density({1e199, 2e199}) == 0);
  CHECK(std::isfinite(estimator.log_density({1e199, 2e199})));
  CHECK(estimator.log_density({1e199, 2e199}) > estimator.log_density({-9e199, -9e199}));
  auto const narrow = search_space{}.uniform("x", 0, 1).uniform("y", 0, 2);
  auto const other = parzen_estimator(narrow, {{0.2, 0.4}, {0.7, 1.1}});
  CHECK(std::exp(other.log_density({0.3, 0.5})) == Approx(other.density({0.3, 0.5})));
}
