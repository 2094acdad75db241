// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/optimize/tpe.hpp>

using namespace tessera;

namespace {

struct problem {
  search_space space;
  double (*value)(search_point const&);
};

/// x^2 + y^2 + z^2; least 0.
auto sphere() -> problem {
  return {search_space{}.uniform("x", -5, 5).uniform("y", -5, 5).uniform("z", -5, 5),
          [](search_point const& p) {
            auto sum = 0.0;
            for (auto const* const name : {"x", "y", "z"})
              sum += number_of(p, name) * number_of(p, name);
            return sum;
          }};
}
/// Branin's function, less its least value, which it has in three places.
auto branin() -> problem {
  return {search_space{}.uniform("x", -5, 10).uniform("y", 0, 15), [](search_point const& p) {
            constexpr auto pi = std::numbers::pi;
            auto const x = number_of(p, "x");
            auto const valley = number_of(p, "y") - 5.1 / (4 * pi * pi) * x * x + 5 / pi * x - 6;
            return valley * valley + 10 * (1 - 1 / (8 * pi)) * std::cos(x) + 10 -
                   0.39788735772973816;
          }};
}
/// What a training's loss may look like, over parameters of every kind; least 0.
auto mixed() -> problem {
  return {search_space{}
              .log_uniform("rate", 1e-5, 1)
              .integer("layers", 1, 8)
              .choice("model", {"a", "b", "c", "d"})
              .uniform("dropout", 0, 0.6),
          [](search_point const& p) {
            auto const rate = std::log10(number_of(p, "rate")) + 3;
            auto const layers = static_cast<double>(whole_of(p, "layers")) - 5;
            auto const dropout = number_of(p, "dropout") - 0.2;
            auto const model = choice_of(p, "model") == "c" ? 0.0 : 1.0;
            return rate * rate + 0.3 * layers * layers + model + 4 * dropout * dropout;
          }};
}
/// Trials that this method told the value of, one after another.
template <class Method>
auto searched(Method const& method, problem const& of, std::uint64_t seed, std::uint64_t n,
              search_direction direction = search_direction::minimize) -> std::vector<trial> {
  auto trials = std::vector<trial>{};
  auto const sign = direction == search_direction::minimize ? 1 : -1;
  for (auto i = std::uint64_t{0}; i < n; ++i) {
    auto random = draws(seed, i);
    auto const point = method.propose({of.space, trials, direction}, random);
    trials.push_back({.number = i,
                      .state = trial_state::complete,
                      .point = point,
                      .value = sign * of.value(point)});
  }
  return trials;
}
/// How many trials came until the value was at least this good; their number where none was.
auto trials_until(std::vector<trial> const& trials, double value) -> std::size_t {
  auto const found =
      std::find_if(trials.begin(), trials.end(), [&](trial const& t) { return t.value <= value; });
  return static_cast<std::size_t>(found - trials.begin());
}
auto best_of(std::vector<trial> const& trials) -> double {
  return best_trials(trials, search_direction::minimize).at(0).value;
}

}  // namespace

TEST_CASE("tpe: comes to what 100 random trials found in far fewer, in most of 20 searches") {
  auto const of = GENERATE(sphere(), branin(), mixed());
  constexpr auto n = std::uint64_t{100};
  auto needed = std::size_t{0};
  auto earlier = 0;
  auto better = 0;
  for (auto seed = std::uint64_t{0}; seed < 20; ++seed) {
    auto const random = searched(random_search{}, of, seed, n);
    auto const parzen = searched(tpe{}, of, seed, n);
    auto const goal = best_of(random);
    auto const trials = trials_until(parzen, goal);
    needed += trials + 1;
    earlier += trials < trials_until(random, goal) ? 1 : 0;
    better += best_of(parzen) < goal ? 1 : 0;
  }
  CAPTURE(needed, earlier, better);
  CHECK(better >= 19);
  CHECK(earlier >= 11);
  CHECK(needed < 20 * 50);
}
TEST_CASE("tpe: random at first, and then by the trials it sees") {
  auto const of = mixed();
  auto const trials = searched(tpe{}, of, 1, 12);
  auto const random = searched(random_search{}, of, 1, 12);
  for (auto i = std::size_t{0}; i < 10; ++i) CHECK(trials[i].point == random[i].point);
  CHECK(trials[10].point != random[10].point);
  CHECK(searched(tpe{}, of, 1, 12)[11].point == trials[11].point);
}
TEST_CASE("tpe: the larger values of one direction are the smaller ones of the other") {
  auto const down = searched(tpe{}, branin(), 2, 40);
  auto const up = searched(tpe{}, branin(), 2, 40, search_direction::maximize);
  for (auto i = std::size_t{0}; i < 40; ++i) CHECK(down[i].point == up[i].point);
}
TEST_CASE("tpe: pruned trials are behind complete ones, failed ones are not there") {
  auto const space = search_space{}.uniform("x", 0, 1);
  auto trials = std::vector<trial>{};
  auto const add = [&](trial_state state, double x, double value, std::uint64_t steps) {
    auto t = trial{.number = trials.size(), .state = state, .point = {{"x", x}}};
    if (state == trial_state::complete) t.value = value;
    if (steps > 0) t.reported[steps] = value;
    trials.push_back(t);
  };
  auto const mean = [&] {
    auto sum = 0.0;
    for (auto i = std::uint64_t{0}; i < 50; ++i) {
      auto random = draws(1, i);
      sum += number_of(tpe{}.propose({space, trials}, random), "x") / 50;
    }
    return sum;
  };
  // Pruned ones that went farther are the good ones, whatever the value of others.
  for (auto i = 0; i < 18; ++i) add(trial_state::pruned, 0.05 + 0.01 * i, 0.001, 1);
  for (auto i = 0; i < 2; ++i) add(trial_state::pruned, 0.9 + 0.01 * i, 5, 9);
  CHECK(mean() > 0.7);
  // Complete ones are better still, and failed ones change nothing.
  for (auto i = 0; i < 2; ++i) add(trial_state::complete, 0.5 + 0.01 * i, 7, 9);
  auto const by_complete = mean();
  CHECK(by_complete == Approx(0.5).margin(0.15));
  for (auto i = 0; i < 30; ++i) add(trial_state::failed, 0.99, -1, 0);
  CHECK(mean() == by_complete);
}
TEST_CASE("tpe: keeps away from where others are at work") {
  auto const space = search_space{}.uniform("x", 0, 1);
  auto trials = std::vector<trial>{};
  for (auto i = std::uint64_t{0}; i < 30; ++i) {
    auto const x = static_cast<double>(i) / 29;
    trials.push_back({.number = i,
                      .state = trial_state::complete,
                      .point = {{"x", x}},
                      .value = (x - 0.5) * (x - 0.5)});
  }
  auto const near = [&] {
    auto count = 0;
    for (auto i = std::uint64_t{0}; i < 100; ++i) {
      auto random = draws(2, i);
      auto const x = number_of(tpe{}.propose({space, trials}, random), "x");
      count += std::abs(x - 0.5) < 0.05 ? 1 : 0;
    }
    return count;
  };
  auto const before = near();
  for (auto i = std::uint64_t{30}; i < 50; ++i)
    trials.push_back({.number = i, .point = {{"x", 0.46 + 0.001 * static_cast<double>(i)}}});
  CHECK(before > 30);
  CHECK(near() < before / 2);
}
