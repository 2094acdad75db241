// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/optimize/importance.hpp>
#include <tessera/optimize/random_search.hpp>

using namespace tessera;

namespace {

auto space() -> search_space {
  return search_space{}
      .uniform("x", 0, 1)
      .log_uniform("rate", 1e-4, 1)
      .integer("n", 1, 4)
      .choice("kind", {"a", "b", "c"})
      .uniform("nothing", -1, 1);
}
/// The importances of a function, by name, from 400 random trials.
template <class F> auto shares(F const& f) -> std::map<std::string, double> {
  auto trials = std::vector<trial>{};
  for (auto i = std::uint64_t{0}; i < 400; ++i) {
    auto random = draws(5, i);
    auto const point = random_search{}.propose({space(), trials}, random);
    trials.push_back(
        {.number = i, .state = trial_state::complete, .point = point, .value = f(point)});
  }
  auto const found = importance_of(space(), trials);
  auto result = std::map<std::string, double>{{"together", found.together}};
  for (auto const& [name, share] : found.parameters) result[name] = share;
  CHECK(found.parameters.size() == 5);
  CHECK(result.at(found.parameters[0].name) >= result.at(found.parameters[4].name));
  return result;
}

}  // namespace

TEST_CASE("importance: one parameter explains all") {
  CHECK(shares([](auto const& p) { return number_of(p, "x"); }).at("x") > 0.98);
  CHECK(shares([](auto const& p) { return std::log(number_of(p, "rate")); }).at("rate") > 0.98);
  CHECK(shares([](auto const& p) { return static_cast<double>(whole_of(p, "n")); }).at("n") > 0.98);
  CHECK(shares([](auto const& p) { return choice_of(p, "kind") == "b" ? 1.0 : 0.0; }).at("kind") >
        0.98);
}
TEST_CASE("importance: shares of a sum are those of the variances") {
  // Variances 9/12 of 3x, 5/4 of n, 2/9·2.25 = 1/2 of the choice: 0.3, 0.5 and 0.2 of 2.5.
  auto const found = shares([](auto const& p) {
    return 3 * number_of(p, "x") + static_cast<double>(whole_of(p, "n")) +
           (choice_of(p, "kind") == "b" ? 1.5 : 0.0);
  });
  CHECK(found.at("x") == Approx(0.3).margin(0.04));
  CHECK(found.at("n") == Approx(0.5).margin(0.04));
  CHECK(found.at("kind") == Approx(0.2).margin(0.04));
  CHECK(found.at("nothing") < 0.01);
  CHECK(found.at("rate") < 0.01);
}
TEST_CASE("importance: what only two explain is nobody's") {
  auto const found = shares([](auto const& p) {
    return (number_of(p, "x") < 0.5) == (whole_of(p, "n") < 3) ? 1.0 : 0.0;
  });
  CHECK(found.at("together") > 0.75);
}
TEST_CASE("importance: values whose squares are infinite, or nothing") {
  auto const value = [](auto const& p) {
    return number_of(p, "x") + 0.1 * number_of(p, "nothing");
  };
  auto const want = shares(value);
  for (auto const unit : {0x1p+1000, 0x1p-900})
    CHECK(shares([&](auto const& p) { return unit * value(p); }) == want);
}
TEST_CASE("importance: points between which no number lies") {
  auto const first = std::nextafter(0.75, 1.0);
  auto trials = std::vector<trial>{};
  for (auto i = std::uint64_t{0}; i < 8; ++i)
    trials.push_back({.number = i,
                      .state = trial_state::complete,
                      .point = {{"x", i % 2 == 0 ? first : std::nextafter(first, 1.0)}},
                      .value = i % 2 == 0 ? 1.0 : 0.0});
  auto const found = importance_of(search_space{}.uniform("x", 0, 1), trials);
  REQUIRE(found.parameters.size() == 1);
  CHECK(found.parameters[0].share == Approx(1));
}
TEST_CASE("importance: of nothing") {
  CHECK(importance_of(space(), {}).parameters.empty());
  CHECK(importance_table({}) == "importance: too few different values\n");
  CHECK(importance_csv({}) == "parameter,share\n");
}
TEST_CASE("importance: trials that were pruned, failed or go on say nothing") {
  auto trials = std::vector<trial>{};
  for (auto i = std::uint64_t{0}; i < 200; ++i) {
    auto random = draws(5, i);
    auto const point = random_search{}.propose({space(), trials}, random);
    trials.push_back({.number = i,
                      .state = trial_state::complete,
                      .point = point,
                      .value = number_of(point, "x")});
  }
  auto const complete = importance_of(space(), trials);
  auto others = trials;
  for (auto const state : {trial_state::pruned, trial_state::failed, trial_state::running})
    for (auto one : trials) {
      one.state = state;
      one.value = 10 * number_of(one.point, "nothing");
      one.reported[1] = one.value;
      others.push_back(one);
    }
  CHECK(importance_csv(importance_of(space(), others)) == importance_csv(complete));
  CHECK(complete.parameters.front().name == "x");
  trials = {others.begin() + 200, others.end()};
  CHECK(importance_of(space(), trials).parameters.empty());
}
TEST_CASE("importance: as text") {
  auto const found =
      search_importance{.parameters = {{"rate", 0.75}, {"n", 0.125}}, .together = 0.125};
  CHECK(importance_table(found) ==
        "rate       0.750  ##############################\n"
        "n          0.125  #####\n"
        "together   0.125  #####\n");
  CHECK(importance_csv(found) == "parameter,share\nrate,0.75\nn,0.125\ntogether,0.125\n");
}
TEST_CASE("importance: equal values that are no short binary fractions have none") {
  auto const plane = search_space{}.uniform("x", 0, 1).uniform("y", 0, 1);
  for (auto const value : {0.9, 0.1}) {
    auto trials = std::vector<trial>{};
    auto random = draws(1, 0);
    for (auto i = std::uint64_t{0}; i < 10; ++i) {
      auto one = trial{.number = i, .state = trial_state::complete, .value = value};
      one.point = plane.point({random.uniform(), random.uniform()});
      trials.push_back(one);
    }
    CHECK(importance_of(plane, trials).parameters.empty());
  }
}
