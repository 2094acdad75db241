// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/train/progress.hpp>

#include <set>
#include <string>

using namespace tessera;

TEST_CASE("progress: every number is visited, by a name of its own") {
  auto p = training_progress{};
  auto names = std::set<std::string>{};
  auto bytes = std::size_t{0};
  p.for_each([&](char const* name, auto& number) {
    names.insert(name);
    bytes += sizeof number;
    number = 7;
  });
  CHECK(bytes == sizeof p);
  CHECK(names.size() * 8 == bytes);
  CHECK(p.epoch == 7);
  CHECK(p.plateau.cooling == 7);
  CHECK(p.best == 7);
}
TEST_CASE("progress: numbers that no training arrives at are named") {
  auto const sound = training_progress{.epoch = 3,
                                       .batch = 2,
                                       .step = 16,
                                       .updates = 9,
                                       .cut = 1,
                                       .loss_sum = 0.5,
                                       .largest_norm = 2,
                                       .best = 0.25,
                                       .best_epoch = 2,
                                       .validations = 3,
                                       .log = 5};
  CHECK(sound.problem().empty());
  CHECK(sound.problem(3, 5).empty());
  CHECK(training_progress{}.problem(1, 1).empty());
  auto at_the_end_of_an_epoch = sound;
  at_the_end_of_an_epoch.batch = 5;
  at_the_end_of_an_epoch.step = 19;
  CHECK(at_the_end_of_an_epoch.problem(4, 5).empty());
  auto const names = [&](char const* what, auto change) {
    auto p = sound;
    change(p);
    INFO(what);
    CHECK(p.problem(3, 5).find(what) != std::string::npos);
  };
  names("loss_sum", [](auto& p) { p.loss_sum = NAN; });
  names("largest_norm", [](auto& p) { p.largest_norm = -1; });
  names("best is", [](auto& p) { p.best = -INFINITY; });
  names("best is", [](auto& p) { p.best = INFINITY; });
  names("before the first validation", [](auto& p) { p.validations = 0; });
  names("updates", [](auto& p) { p.updates = 17; });
  names("updates", [](auto& p) { p.updates = 0; });
  names("step", [](auto& p) { p.cut = 0; });
  names("best_epoch", [](auto& p) { p.best_epoch = 5; });
  names("best_epoch", [](auto& p) { p.best_epoch = 0; });
  names("improvement", [](auto& p) { p.plateau.bad = 1U << 30U; });
  names("plateau.scale", [](auto& p) { p.plateau.scale = NAN; });
  names("plateau.scale", [](auto& p) { p.plateau.scale = 2; });
  names("plateau.best", [](auto& p) { p.plateau.best = NAN; });
  names("epoch is after", [](auto& p) { p.epoch = 4; });
  names("batch is after", [](auto& p) { p.batch = 6; });
  names("step", [](auto& p) { p.step = 17; });
  names("before the first epoch", [](auto& p) { p.epoch = 0, p.cut = 0, p.step = p.updates = 2; });
  names("before the first batch", [](auto& p) { p.batch = 0, p.step = 14; });
}
