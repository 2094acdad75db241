// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/data/walk_forward.hpp>

using namespace tessera;

TEST_CASE("walk_forward: five years and a last one, by hand") {
  auto const w = split_forward(5009, {});
  REQUIRE(w.folds.size() == 5);
  CHECK(w.folds[0] == fold{.train = {0, 0, 3496}, .held_out = {0, 3497, 3749}});
  CHECK(w.folds[4] == fold{.train = {0, 0, 4504}, .held_out = {0, 4505, 4757}});
  CHECK(w.test == fold{.train = {0, 0, 4756}, .held_out = {0, 4757, 5009}});
  auto const sliding = split_forward(5009, {.training = training_growth::sliding});
  CHECK(sliding.folds[0] == fold{.train = {0, 2236, 3496}, .held_out = {0, 3497, 3749}});
  CHECK(sliding.test == fold{.train = {0, 3496, 4756}, .held_out = {0, 4757, 5009}});
}
TEST_CASE("walk_forward: laws of every split") {
  for (auto const growth : {training_growth::anchored, training_growth::sliding})
    for (auto const horizon : {1U, 2U, 5U, 22U})
      for (auto const more : {0U, 3U}) {
        auto const s = walk_forward_settings{.folds = 3,
                                             .training = growth,
                                             .train_length = 50,
                                             .validation = 20,
                                             .test = 10,
                                             .horizon = horizon,
                                             .gap = horizon + more};
        auto const rows = std::size_t{200};
        auto const w = split_forward(rows, s);
        auto all = w.folds;
        all.push_back(w.test);
        for (auto const& f : all) {
          CHECK(f.train.end + s.gap == f.held_out.begin);
          // The last training target is known before the first held-out row.
          CHECK(f.train.end - 1 + horizon < f.held_out.begin);
          CHECK(f.train.length() >= s.train_length);
          if (growth == training_growth::sliding) CHECK(f.train.length() == s.train_length);
        }
        for (auto i = std::size_t{0}; i < 3; ++i) CHECK(all[i].held_out.length() == s.validation);
        for (auto i = std::size_t{1}; i < 3; ++i)
          CHECK(all[i].held_out.begin == all[i - 1].held_out.end);
        // A target reaches from the row after its own to `horizon` rows later: those of the folds
        // end before those of the test part begin.
        CHECK(all[2].held_out.end - 1 + horizon < w.test.held_out.begin + 1);
        CHECK(w.test.held_out == recording_part{0, rows - s.test, rows});
      }
}
TEST_CASE("walk_forward: the fewest rows that do, and what is refused") {
  auto const s = walk_forward_settings{
      .folds = 2, .train_length = 30, .validation = 10, .test = 5, .horizon = 3, .gap = 4};
  auto const least = std::size_t{30 + 4 + 20 + 2 + 5};
  CHECK(split_forward(least, s).folds[0].train == recording_part{0, 0, 30});
  CHECK_THROWS_WITH(split_forward(least - 1, s),
                    "split_forward: expected at least 61 rows for 2 folds, got 60");
  CHECK_THROWS_AS(split_forward(0, s), std::invalid_argument);
  auto bad = s;
  bad.gap = 2;
  CHECK_THROWS_WITH(split_forward(least, bad),
                    "split_forward: expected a gap of at least the horizon, 3 rows, got 2");
  bad = s;
  bad.folds = 0;
  CHECK_THROWS_WITH(split_forward(least, bad),
                    "split_forward: expected folds, train_length, validation, test and horizon of "
                    "at least 1");
  bad = s;
  auto const refused = [&](std::size_t rows) {
    CHECK_THROWS_WITH(split_forward(rows, bad),
                      "split_forward: expected at least 18446744073709551615 rows for " +
                          std::to_string(bad.folds) + " folds, got " + std::to_string(rows));
  };
  bad.folds = ~std::size_t{0} / 2;
  refused(least);
  bad.folds = bad.validation = std::size_t{1} << 32U;
  refused(bad.folds + least);
  bad = s;
  bad.train_length = bad.gap = std::size_t{1} << 63U;
  refused(bad.gap);
}
TEST_CASE("walk_forward: windows that end in a held-out part read the rows before it") {
  auto const part = recording_part{0, 100, 120};
  auto const w = windows{{with_history(part, 60)}, 60};
  CHECK(w.size() == part.length());
  CHECK(w[0] == recording_part{0, 41, 101});
  CHECK(w[19] == recording_part{0, 60, 120});
  CHECK(with_history(part, 1) == part);
  // Where there are fewer rows before, the first windows are not there.
  CHECK(windows{{with_history({0, 10, 20}, 15)}, 15}.size() == 6);
  CHECK_THROWS_WITH(with_history(part, 0),
                    "with_history: expected a look-back of at least 1, got 0");
}
