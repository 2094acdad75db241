// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/optimize/trial.hpp>

using namespace tessera;

TEST_CASE("trial: better in a direction; what is no number is worst") {
  CHECK(is_better(1, 2, search_direction::minimize));
  CHECK_FALSE(is_better(1, 2, search_direction::maximize));
  CHECK_FALSE(is_better(1, 1, search_direction::minimize));
  CHECK(is_better(1e9, NAN, search_direction::minimize));
  CHECK(is_better(-1e9, NAN, search_direction::maximize));
  CHECK_FALSE(is_better(NAN, NAN, search_direction::minimize));
}
TEST_CASE("trial: the best ones are complete, and of equal ones the earlier comes first") {
  auto const of = [](std::uint64_t number, trial_state state, double value) {
    return trial{.number = number, .state = state, .value = value};
  };
  auto const best = best_trials({of(0, trial_state::complete, 3), of(1, trial_state::complete, 1),
                                 of(2, trial_state::pruned, 0), of(3, trial_state::complete, 1)},
                                search_direction::minimize);
  REQUIRE(best.size() == 3);
  CHECK(best[0].number == 1);
  CHECK(best[1].number == 3);
  CHECK(best[2].number == 0);
}
TEST_CASE("trial: states as text") {
  CHECK(text_of(trial_state::waiting) == "waiting");
  CHECK(text_of(trial_state::failed) == "failed");
  CHECK(trial{.state = trial_state::pruned}.is_finished());
  CHECK_FALSE(trial{.state = trial_state::waiting}.is_finished());
}
