// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/optimize/study.hpp>

using namespace tessera;

TEST_CASE("successive_halving: rungs") {
  auto const halving = successive_halving{.least = 2, .reduction = 3};
  CHECK_FALSE(halving.rung(0, 1));
  CHECK(halving.rung(1, 2) == 2);
  CHECK_FALSE(halving.rung(2, 5));
  CHECK(halving.rung(5, 6) == 6);
  CHECK(halving.rung(0, 20) == 18);  // the last of 2, 6 and 18
  CHECK_FALSE(halving.rung(18, 18));
  CHECK(successive_halving{.least = 1, .reduction = 4}.rung(0, ~std::uint64_t{0}) ==
        std::uint64_t{1} << 62);
}
TEST_CASE("successive_halving: one of `reduction` goes on, and the best one at least") {
  auto const halving = successive_halving{.least = 1, .reduction = 3};
  auto const goes = [&](double value, std::vector<double> const& others) {
    return halving.goes_on(value, others, search_direction::minimize);
  };
  CHECK(goes(5, {}));
  CHECK(goes(1, {2}));
  CHECK_FALSE(goes(2, {1}));
  CHECK(goes(1, {1}));  // nobody is better
  CHECK(goes(2, {1, 3, 4, 5, 6}));
  CHECK_FALSE(goes(3.5, {1, 3, 4, 5, 6}));
  CHECK_FALSE(goes(NAN, {}));
  CHECK(goes(2, {NAN, NAN}));
  CHECK(halving.goes_on(9, {1, 2}, search_direction::maximize));
  CHECK_FALSE(halving.goes_on(1, {1.5, 2}, search_direction::maximize));
}
TEST_CASE("successive_halving: options that are none") {
  CHECK_THROWS_WITH((successive_halving{.least = 0}.check()),
                    "successive_halving: expected least >= 1, got 0");
  CHECK_THROWS_WITH((successive_halving{.reduction = 1}.check()),
                    "successive_halving: expected reduction >= 2, got 1");
}
TEST_CASE("successive_halving: a search takes a fraction of the steps, and keeps the good ones") {
  auto const folder = test::folder{};
  auto search = study(folder / "s.db", search_space{}.uniform("x", 0, 1),
                      {.seed = 4, .stopping = successive_halving{.least = 1, .reduction = 3}});
  constexpr auto longest = std::uint64_t{27};
  auto steps = std::uint64_t{0};
  while (auto const t = search.ask(60)) {
    auto const x = number_of(t->point, "x");
    auto pruned = false;
    for (auto step = std::uint64_t{1}; step <= longest && not pruned; ++step) {
      ++steps;
      pruned = search.report(*t, step, x + 1 / static_cast<double>(step)) && step < longest;
    }
    pruned ? search.prune(*t) : search.tell(*t, x);
  }
  CHECK(steps < 60 * longest / 4);
  auto const found = search.trials();
  auto complete = 0.0;
  auto pruned = 0.0;
  auto best = 1.0;
  for (auto const& t : found) {
    auto const x = number_of(t.point, "x");
    best = std::min(best, x);
    complete = t.state == trial_state::complete ? std::max(complete, x) : complete;
    pruned += t.state == trial_state::pruned ? 1 : 0;
  }
  CHECK(pruned > 40);
  CHECK(complete < 0.5);  // none of the worse half came to the end but the first ones
  CHECK(best_trials(found, search.direction()).at(0).value == best);
}
