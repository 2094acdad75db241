// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/folder.hpp>
#include <tessera/train/run_folder.hpp>

#include <functional>

using namespace tessera;

namespace {
[[nodiscard]] auto options(test::folder const& f, std::string settings, bool resume = false) {
  return run_folder_options{f / "out", std::move(settings), {"model"}, resume};
}
/// Every name below a folder, and the text of the files.
[[nodiscard]] auto content(std::filesystem::path const& folder) {
  auto result = std::map<std::string, std::string>{};
  for (auto const& entry : std::filesystem::recursive_directory_iterator{folder})
    result[std::filesystem::relative(entry.path(), folder).string()] =
        entry.is_regular_file() ? test::text_of(entry.path()) : "";
  return result;
}
/// A run that is shown and ends.
void finished_run(test::folder const& f, std::string const& settings, std::string const& model) {
  auto run = run_folder(options(f, settings));
  write_file(run.path() / "checkpoint.safetensors", "checkpoint of " + model);
  run.show();
  write_file(run.path() / "model", model);
}
/// What a trainer does at a checkpoint.
struct step_counter {
  std::filesystem::path folder;
  std::uint64_t step = 0;
  std::function<void()> on_checkpoint = {};

  [[nodiscard]] auto progress() const -> step_counter const& { return *this; }
  void move_to(std::filesystem::path to) { folder = std::move(to); }
  void save() const {
    write_file(folder / run_folder::checkpoint_file, std::to_string(step));
    on_checkpoint();
  }
};
}  // namespace

TEST_CASE("run_folder: it is shown with the first checkpoint after a step") {
  auto const f = test::folder{};
  finished_run(f, "rate: 1\n", "old");
  auto run = run_folder(options(f, "rate: 2\n"));
  auto trainer = step_counter{run.path()};
  run.show_with_checkpoint_of(trainer);
  trainer.save();
  CHECK(run.path() != f / "out");
  CHECK(test::text_of(f / "out/model") == "old");
  trainer.step = 1;
  trainer.save();
  CHECK(trainer.folder == f / "out");
  trainer.step = 2;
  trainer.save();
  CHECK(test::text_of(f / "out/checkpoint.safetensors") == "2");
}
TEST_CASE("run_folder: a new run stands beside the old one until it is shown") {
  auto const f = test::folder{};
  finished_run(f, "rate: 1\n", "old");
  write_file(f / "out/notes.txt", "the user's own");
  auto const before = content(f / "out");
  CHECK(before.size() == 4);
  auto run = run_folder(options(f, "rate: 2\n"));
  write_file(run.path() / "checkpoint.safetensors", "new");
  write_file(run.path() / "log.csv", "rows");
  CHECK(test::text_of(f / "out/model") == "old");
  CHECK(test::text_of(f / "out/settings.yaml") == "rate: 1\n");
  run.show();
  run.show();
  CHECK(run.path() == f / "out");
  CHECK(content(f / "out") ==
        std::map<std::string, std::string>{{".run.lock", test::text_of(f / "out/.run.lock")},
                                           {"checkpoint.safetensors", "new"},
                                           {"log.csv", "rows"},
                                           {"notes.txt", "the user's own"},
                                           {"settings.yaml", "rate: 2\n"}});
}
TEST_CASE("run_folder: a run that shows nothing leaves all as it was") {
  auto const f = test::folder{};
  {
    auto const run = run_folder(options(f, "rate: 1\n"));
  }
  CHECK(f.files() == 0);
  std::filesystem::create_directories(f / "deep");
  {
    auto const run = run_folder({f / "deep/er/out", "rate: 1\n", {}, false});
  }
  CHECK(content(f.path()) == std::map<std::string, std::string>{{"deep", ""}});
  finished_run(f, "rate: 1\n", "old");
  auto const before = content(f.path());
  {
    auto const run = run_folder(options(f, "rate: 2\n"));
  }
  CHECK(content(f.path()) == before);
}
TEST_CASE("run_folder: a second run is refused, and the first one is named") {
  auto const f = test::folder{};
  auto const run = run_folder(options(f, "rate: 1\n"));
  CHECK_THROWS_WITH(
      run_folder(options(f, "rate: 1\n")),
      Catch::Contains("out: belongs to a run that goes on: process " + std::to_string(::getpid())));
}
TEST_CASE("run_folder: what is resumed has the settings that are asked for") {
  auto const f = test::folder{};
  CHECK_THROWS_WITH(run_folder(options(f, "rate: 1\n", true)),
                    Catch::Contains("out: has no checkpoint.safetensors to go on from"));
  CHECK(f.files() == 0);
  finished_run(f, "rate: 1\nseed: 1\n", "old");
  {
    auto const run = run_folder(options(f, "seed: 1\nrate: 1\n", true));
    CHECK(run.path() == f / "out");
    CHECK(run.resumes());
  }
  CHECK_THROWS_WITH(run_folder(options(f, "rate: 2\nseed: 1\n", true)),
                    Catch::Contains("other settings: rate: expected 2, got 1"));
  // A run that was stopped before it was shown, and the old one: each by its settings.
  {
    auto const run = run_folder(options(f, "rate: 2\nseed: 1\n"));
    write_file(run.path() / "checkpoint.safetensors", "new");
  }
  CHECK(run_folder(options(f, "rate: 1\nseed: 1\n", true)).path() == f / "out");
  CHECK(run_folder(options(f, "rate: 2\nseed: 1\n", true)).path() == f / "out/.run.new");
  CHECK_THROWS_WITH(run_folder(options(f, "rate: 3\nseed: 1\n", true)),
                    Catch::Contains("rate: expected 3, got 2"));
  CHECK(test::text_of(f / "out/model") == "old");
}
TEST_CASE("run_folder: what a stopped process left is finished or taken away") {
  auto const f = test::folder{};
  finished_run(f, "rate: 1\n", "old");
  write_file(f / "out/model.77-3.part", "half");
  write_file(f / "out/mine.77-3.part", "the user's own");
  write_file(f / "out/model.part", "the user's own");
  for (auto const* stopped : {".run.taking", ".run.moving"}) {
    INFO(stopped);
    std::filesystem::create_directory(f / "out" / stopped);
    write_file(f / "out" / stopped / "settings.yaml", "rate: 2\n");
    write_file(f / "out" / stopped / "checkpoint.safetensors", "new");
    CHECK(run_folder::is_torn(f / "out"));
    if (std::string{stopped} == ".run.moving") std::filesystem::remove(f / "out/model");
    {
      auto const run = run_folder(options(f, "rate: 2\n", true));
    }
    CHECK_FALSE(run_folder::is_torn(f / "out"));
    CHECK(content(f / "out") ==
          std::map<std::string, std::string>{{"checkpoint.safetensors", "new"},
                                             {"mine.77-3.part", "the user's own"},
                                             {"model.part", "the user's own"},
                                             {"settings.yaml", "rate: 2\n"}});
  }
}
TEST_CASE("run_folder: what is no folder is refused") {
  auto const f = test::folder{};
  write_file(f / "file", "");
  CHECK_THROWS_WITH(run_folder({f / "file", "", {}, false}), Catch::Contains("file: is no folder"));
  CHECK_THROWS_AS(run_folder({f / "file/out", "", {}, false}), file_error);
  CHECK_THROWS_AS(run_folder({"/dev/null/out", "", {}, false}), file_error);
}
