// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/program/training_run.hpp>

using namespace tessera;

namespace {
[[nodiscard]] auto asked(test::folder const& f, std::string resume = "") {
  return training_request{f / "out", "rate: 1\n", {"model"}, std::move(resume)};
}
/// A run that is shown and ends.
void train(test::folder const& f) {
  auto run = training_run(asked(f));
  write_file(run.path() / run_folder::checkpoint_file, "numbers");
  run.show();
}
}  // namespace

TEST_CASE("training_run: a new one replaces what was trained before") {
  auto const f = test::folder{};
  train(f);
  auto const run = training_run(asked(f));
  CHECK(run.replaces());
  CHECK_FALSE(run.resumes());
  CHECK(run.path() != f / "out");
}
TEST_CASE("training_run: what keeps nothing, or goes on, replaces nothing") {
  auto const f = test::folder{};
  CHECK_FALSE(training_run(asked(f)).replaces());
  train(f);
  auto tries = asked(f);
  tries.keeps_nothing = true;
  CHECK_FALSE(training_run(tries).replaces());
  CHECK_FALSE(training_run(asked(f, "last")).replaces());
  CHECK(training_run(asked(f, "last")).resumes());
}
TEST_CASE("training_run: what no training can follow is refused by its option") {
  auto const f = test::folder{};
  CHECK_THROWS_WITH(training_run(training_request{}), "--output: expected a folder, got nothing");
  auto tries = asked(f, "last");
  tries.keeps_nothing = true;
  CHECK_THROWS_WITH(training_run(tries), Catch::StartsWith("--resume: expected no --fast-dev-run"));
  CHECK_THROWS_AS(training_run(asked(f, "last")), file_error);
  auto const other = (f / "other.safetensors").string();
  CHECK_THROWS_WITH(training_run(asked(f, other)),
                    Catch::StartsWith("--resume " + other + ": expected a file of the run in ") &&
                        Catch::Contains("has no checkpoint.safetensors to go on from"));
  CHECK_THROWS_AS(training_run(asked(f, other)), usage_error);
}
TEST_CASE("training_run: a folder of two trainings is refused until one has finished it") {
  auto const f = test::folder{};
  training_run::check_whole(f / "out");
  train(f);
  training_run::check_whole(f / "out");
  std::filesystem::create_directories(f / "out/.run.taking");
  CHECK_THROWS_WITH(training_run::check_whole(f / "out"), Catch::EndsWith(": train --resume"));
}
