// SPDX-License-Identifier: MIT
#include <tessera/train/early_stopping.hpp>
#include <tessera/train/model_checkpoint.hpp>

#include <csignal>
#include <set>

#include "small.hpp"

#include <sys/wait.h>

using namespace tessera;

namespace {
using names = std::vector<std::string>;

/// The files of folder/checkpoints, by name.
[[nodiscard]] auto checkpoints_of(test::folder const& folder) -> names {
  auto result = names{};
  for (auto const& [name, ignored] : small::files_of(folder / "checkpoints"))
    result.push_back(name.substr(0, name.find(".safetensors")));
  return result;
}
/// The costs of the validations by the names that their files would have.
struct costs : callback {
  std::vector<std::pair<double, std::string>> all;
  void on_validation_end(fit_control&, validation_report const& r) override {
    all.emplace_back(r.scores[0].value,
                     "epoch=" + std::to_string(r.epoch - 1) + "-step=" + std::to_string(r.step));
  }
  [[nodiscard]] auto best(std::size_t k) const -> names {
    auto sorted = all;
    std::ranges::sort(sorted);
    auto result = names{};
    for (auto i = std::size_t{0}; i < std::min(k, sorted.size()); ++i)
      result.push_back(sorted[i].second);
    std::ranges::sort(result);
    return result;
  }
};
/// Adam with too high a rate: its losses go up and down.
[[nodiscard]] auto restless(trainer_options options) {
  return small::make(std::move(options), adam{.rate = 0.4});
}
[[nodiscard]] auto keeping(model_checkpoint_options options) {
  return std::make_shared<model_checkpoint>(std::move(options));
}
/// The squared error, turned round.
struct closeness {
  static constexpr auto name = "closeness";
  static constexpr bool more_is_better = true;
  [[nodiscard]] static auto terms(auto target) -> std::size_t { return target.size(); }
  [[nodiscard]] static auto value(auto y, auto target) -> double {
    return -root_mean_squared_error::value(y, target);
  }
};
}  // namespace

TEST_CASE("model_checkpoint: the k best validations are kept, and no other") {
  for (auto const k : {1, 3}) {
    auto const folder = test::folder{};
    auto const data = small::points{};
    auto source = data.source();
    auto monitor = data.source(false);
    auto const t = restless({.max_epochs = 8, .val_check_interval = 2, .folder = folder.path()});
    auto const seen = std::make_shared<costs>();
    auto const keeps = keeping({.save_top_k = k});
    t->callbacks = {seen, keeps};
    CHECK(t->fit(source, monitor) == ending::finished);
    CHECK(seen->all.size() == 24);
    CHECK(checkpoints_of(folder) == seen->best(static_cast<std::size_t>(k)));
    CHECK(keeps->best_name() == seen->best(1)[0] + ".safetensors");
  }
}
TEST_CASE("model_checkpoint: all, none, the newest, every n steps and epochs, and the last") {
  auto const kept = [](model_checkpoint_options options) {
    auto const folder = test::folder{};
    auto const data = small::points{};
    auto source = data.source();
    auto monitor = data.source(false);
    auto const t = small::make({.max_epochs = 4, .folder = folder.path()});
    t->callbacks = {keeping(std::move(options))};
    t->fit(source, monitor);
    return checkpoints_of(folder);
  };
  CHECK(kept({.save_top_k = -1}) ==
        names{"epoch=0-step=5", "epoch=1-step=10", "epoch=2-step=15", "epoch=3-step=20"});
  CHECK(kept({.save_top_k = 0}).empty());
  CHECK(kept({.save_top_k = 0, .save_last = true}) == names{"last"});
  CHECK(kept({.monitor = "", .save_top_k = 2}) == names{"epoch=2-step=15", "epoch=3-step=20"});
  CHECK(kept({.save_top_k = -1, .every_n_epochs = 2}) ==
        names{"epoch=1-step=10", "epoch=3-step=20"});
  CHECK(kept({.monitor = "", .save_top_k = -1, .every_n_train_steps = 6}) ==
        names{"epoch=1-step=6", "epoch=2-step=12", "epoch=3-step=18"});
  CHECK(kept({.monitor = "", .save_top_k = -1, .every_n_train_steps = 10}) ==
        names{"epoch=1-step=10", "epoch=3-step=20"});
}
TEST_CASE("model_checkpoint: the mode is over what the score says of itself") {
  auto const loss_of_best = [](std::string const& score, monitor_mode mode) -> std::string {
    auto const folder = test::folder{};
    auto const data = small::points{};
    auto source = data.source();
    auto monitor = data.source(false);
    auto const t = restless({.max_epochs = 8, .folder = folder.path()});
    auto const seen = std::make_shared<costs>();
    auto const keeps = keeping({.monitor = score, .mode = mode});
    t->callbacks = {seen, keeps};
    t->fit(source, monitor, closeness{});
    auto const [least, most] = std::ranges::minmax(seen->all);
    if (keeps->best_name() == least.second + ".safetensors") return "least";
    return keeps->best_name() == most.second + ".safetensors" ? "most" : "another";
  };
  CHECK(loss_of_best("loss", monitor_mode::of_score) == "least");
  CHECK(loss_of_best("loss", monitor_mode::min) == "least");
  CHECK(loss_of_best("loss", monitor_mode::max) == "most");
  CHECK(loss_of_best("closeness", monitor_mode::of_score) == "least");
  CHECK(loss_of_best("closeness", monitor_mode::max) == "least");
  CHECK(loss_of_best("closeness", monitor_mode::min) == "most");
}
TEST_CASE("model_checkpoint: each option is in what a resume compares") {
  auto const settings = [](model_checkpoint_options options) {
    return model_checkpoint(std::move(options)).settings();
  };
  auto const all = std::set{settings({}),
                            settings({.folder = "other"}),
                            settings({.monitor = ""}),
                            settings({.mode = monitor_mode::max}),
                            settings({.mode = monitor_mode::min}),
                            settings({.save_top_k = 2}),
                            settings({.save_last = true}),
                            settings({.every_n_epochs = 2}),
                            settings({.every_n_train_steps = 2})};
  CHECK(all.size() == 9);
}
TEST_CASE("model_checkpoint: a state with files that are no checkpoints is refused") {
  auto keeps = model_checkpoint();
  auto const state = std::string{"0.5 12 0.5 epoch=1-step=12.safetensors"};
  keeps.restore(state);
  CHECK(keeps.state() == state);
  CHECK(keeps.best_file(state) == "checkpoints/epoch=1-step=12.safetensors");
  CHECK(keeps.best_file("0.5 12").empty());
  for (auto const* const name : {"../epoch=1-step=12.safetensors", "last.safetensors",
                                 "epoch=1-step=.safetensors", "epoch=1-step=2.safetensors.part"})
    CHECK_THROWS_WITH(keeps.restore(std::string{"0.5 12 0.5 "} + name),
                      Catch::Contains(std::string{"has the file \""} + name));
}
TEST_CASE("model_checkpoint: options that are none are refused") {
  CHECK_THROWS_WITH(model_checkpoint({.save_top_k = -2}),
                    "model_checkpoint: expected a save_top_k of -1 or more, got -2");
  for (auto const* const folder : {"", ".", "..", "../x", "x/", "/x"})
    CHECK_THROWS_WITH(model_checkpoint({.folder = folder}),
                      Catch::Contains("the name of a folder, got \"" + std::string{folder} + '"'));
  CHECK_THROWS_WITH(model_checkpoint({.every_n_epochs = 0}), Catch::Contains("above 0"));
  auto const data = small::points{};
  auto source = data.source();
  auto const t = small::make({});
  t->callbacks = {keeping({})};
  CHECK_THROWS_WITH(t->fit(source), Catch::Contains("expected a trainer with a folder"));
}
TEST_CASE("model_checkpoint: a text that no checkpoint holds is refused before a file is changed") {
  auto const folder = test::folder{};
  auto const data = small::points{};
  auto source = data.source();
  auto const fit = [&](trainer_options options, std::string const& name) {
    options.max_epochs = 2;
    options.folder = folder.path();
    auto const t = small::make(std::move(options));
    t->callbacks = {keeping({.folder = name})};
    return t->fit(source);
  };
  fit({}, "checkpoints");
  auto const before = small::files_of(folder.path());
  CHECK_THROWS_WITH(fit({.settings = "data: caf\xe9.csv\n"}, "checkpoints"),
                    "trainer: the checkpoint's \"settings\": expected UTF-8, byte 9 is none");
  CHECK_THROWS_WITH(fit({.model = "caf\xe9"}, "checkpoints"),
                    "trainer: the checkpoint's \"model\": expected UTF-8, byte 3 is none");
  CHECK_THROWS_WITH(fit({}, "caf\xe9"), Catch::Contains("\"callbacks\": expected UTF-8"));
  CHECK(small::files_of(folder.path()) == before);
  CHECK(not exists(folder / "caf\xe9"));
  CHECK(fit({.settings = "data: caf\xc3\xa9.csv\n"}, "caf\xc3\xa9") == ending::finished);
}
TEST_CASE("model_checkpoint: two of one folder are refused before they take each other's files") {
  auto const folder = test::folder{};
  auto const data = small::points{};
  auto source = data.source();
  auto const t = small::make({.max_epochs = 2, .folder = folder.path()});
  t->callbacks = {keeping({.mode = monitor_mode::min}), std::make_shared<callback>(),
                  keeping({.mode = monitor_mode::max})};
  CHECK_THROWS_WITH(t->fit(source), Catch::Contains("got two of \"checkpoints\""));
  CHECK(folder.files() == 0);
  t->callbacks[2] = keeping({.folder = "worst", .mode = monitor_mode::max});
  CHECK(t->fit(source) == ending::finished);
  for (auto const* const name : {"checkpoints", "worst"})
    CHECK(small::files_of(folder / name).size() == 1);
}
TEST_CASE(
    "model_checkpoint: a resume goes on from the best, the last or a path, to the same bits") {
  auto const folder = test::folder{};
  auto const data = small::points{};
  auto const made = [&] {
    auto t = restless({.max_epochs = 6, .val_check_interval = 2, .folder = folder.path()});
    t->callbacks = {keeping({.save_top_k = 3, .save_last = true}),
                    std::make_shared<early_stopping>(early_stopping_options{.patience = 99})};
    return t;
  };
  auto source = data.source();
  auto monitor = data.source(false);
  auto const whole = made();
  whole->fit(source, monitor);
  auto const want = small::files_of(folder.path());
  auto const without_seconds = [](auto files) {
    files.erase("log.csv");
    files.erase("log.jsonl");
    return files;
  };
  CHECK(want.size() == 3 + 3 + 1);
  auto from = names{"best", "last", (folder / "checkpoints" / "last.safetensors").string()};
  for (auto const& name : checkpoints_of(folder))
    from.push_back((folder / "checkpoints" / (name + ".safetensors")).string());
  for (auto const& which : from) {
    INFO(which);
    auto const t = made();
    t->resume(which);
    if (which == "best") CHECK(t->progress().best == whole->progress().best);
    if (which == "best") CHECK(t->evaluate(t->parameters(), monitor) == whole->progress().best);
    CHECK(t->fit(source, monitor) == ending::finished);
    CHECK(without_seconds(small::files_of(folder.path())) == without_seconds(want));
    for (auto const& [name, bytes] : want) {
      auto const path = folder / name;
      std::filesystem::create_directories(path.parent_path());
      write_file(path, bytes);
    }
  }
  auto const t = made();
  CHECK_THROWS_WITH(t->resume((folder / "none").string()), Catch::Contains("none: cannot be read"));
  auto const plain = restless({.folder = folder.path()});
  CHECK_THROWS_WITH(plain->resume("best"), Catch::Contains("no model_checkpoint kept one"));
}
TEST_CASE("model_checkpoint: a new run takes away what another left, and no file of others") {
  auto const folder = test::folder{};
  auto const here = folder / "checkpoints";
  std::filesystem::create_directories(here);
  for (auto const* const name : {"epoch=7-step=70.safetensors", "last.safetensors", "notes.txt",
                                 "epoch=8-step=80.safetensors.77-0.part", "epoch=.safetensors",
                                 "epoch=1-step=2.safetensors.mine"})
    write_file(here / name, "");
  auto const data = small::points{};
  auto source = data.source();
  auto const t = small::make({.max_epochs = 1, .folder = folder.path()});
  t->callbacks = {keeping({})};
  t->fit(source);
  auto found = names{};
  for (auto const& [name, ignored] : small::files_of(here)) found.push_back(name);
  CHECK(found == names{"epoch=.safetensors", "epoch=0-step=5.safetensors",
                       "epoch=1-step=2.safetensors.mine", "notes.txt"});
}

namespace {
/// A training with all that a checkpoint has to remember; resumed where there is something.
auto trains(std::filesystem::path const& folder, std::uint64_t stop_after, callbacks extra = {})
    -> ending {
  auto const data = small::points{};
  auto source = data.source();
  auto monitor = data.source(false);
  auto const t = restless({.max_epochs = 4,
                           .accumulate_grad_batches = 2,
                           .val_check_interval = 2,
                           .folder = folder,
                           .checkpoint_seconds = 0,
                           .stop_after_batches = stop_after});
  t->callbacks = {
      extra.empty() ? std::make_shared<callback>() : extra[0],
      keeping({.save_top_k = 2, .save_last = true}),
      keeping({.folder = "recent", .monitor = "", .save_top_k = 3, .every_n_train_steps = 3}),
      std::make_shared<early_stopping>(early_stopping_options{.patience = 6}),
      extra.empty() ? std::make_shared<callback>() : extra[1]};
  if (exists(t->checkpoint_file())) t->resume();
  return t->fit(source, monitor);
}
[[nodiscard]] auto result_of(std::filesystem::path const& folder) {
  auto files = small::files_of(folder);
  auto const log = files.extract("log.csv").mapped();
  files.erase("log.jsonl");  // both have the seconds
  files["rows"] = std::to_string(std::count(log.begin(), log.end(), '\n'));
  return files;
}
/// Kills its process at the n-th boundary that it is told of.
struct killing : callback {
  std::shared_ptr<int> left;
  explicit killing(std::shared_ptr<int> n) : left(std::move(n)) {}
  void count() const {
    if (--*left == 0) (void)::kill(::getpid(), SIGKILL);
  }
  void on_train_batch_end(fit_control&, batch_report const&) override { count(); }
  void on_validation_end(fit_control&, validation_report const&) override { count(); }
  void on_train_epoch_end(fit_control&, epoch_report const&) override { count(); }
  void between_steps(fit_control&) override { count(); }
  void on_checkpoint(fit_control&) override { count(); }
};
}  // namespace

TEST_CASE("model_checkpoint: stopped after every few batches, the files end the same") {
  auto const whole = test::folder{};
  auto const how = trains(whole.path(), 0);
  auto const want = result_of(whole.path());
  CHECK(want.size() == 8);
  for (auto const each : {1U, 3U}) {
    auto const folder = test::folder{};
    auto runs = 0;
    auto found = ending::interrupted;
    for (; found == ending::interrupted && runs < 100; ++runs) found = trains(folder.path(), each);
    CHECK(runs > 2);
    CHECK(found == how);
    CHECK(result_of(folder.path()) == want);
  }
}
TEST_CASE("model_checkpoint: killed at any boundary and resumed, the files end the same") {
  auto const whole = test::folder{};
  (void)trains(whole.path(), 0);
  auto const want = result_of(whole.path());
  auto kills = 0;
  for (auto const after : {1, 4, 6, 9}) {
    auto const folder = test::folder{};
    auto status = 0;
    for (auto run = 0; run == 0 || WIFSIGNALED(status); ++run) {
      REQUIRE(run < 100);
      auto const child = ::fork();
      if (child == 0) {
        auto const left = std::make_shared<int>(after + run);
        (void)trains(folder.path(), 0,
                     {std::make_shared<killing>(left), std::make_shared<killing>(left)});
        ::_exit(0);
      }
      REQUIRE(::waitpid(child, &status, 0) == child);
      kills += WIFSIGNALED(status);
    }
    CHECK(WIFEXITED(status));
    CHECK(result_of(folder.path()) == want);
  }
  CHECK(kills >= 20);
}

namespace {
/// Calls f at the boundaries where a fit begins, saves, or is between two steps.
struct watching : callback {
  std::function<void(std::string const&)> f;
  void on_fit_start(fit_control&) override { f("start"); }
  void on_checkpoint(fit_control&) override { f("checkpoint"); }
  void between_steps(fit_control&) override { f("step"); }
};
[[nodiscard]] auto watched(std::filesystem::path const& folder, std::int64_t k,
                           std::function<void(std::string const&)> f) {
  auto t = restless({.max_epochs = 6, .folder = folder});
  auto const last = std::make_shared<watching>();
  last->f = std::move(f);
  t->callbacks = {keeping({.save_top_k = k}), last};
  return t;
}
}  // namespace

TEST_CASE("model_checkpoint: a fit that goes on from an older one and fails can be resumed again") {
  auto const data = small::points{};
  auto source = data.source();
  auto monitor = data.source(false);
  auto const older = std::string{"checkpoints/epoch=1-step=10.safetensors"};
  auto const goes_on = [&](std::filesystem::path const& folder, std::string const& which,
                           std::string const& fails) {
    auto const t = watched(folder, -1, [&](auto const& here) {
      if (here == fails) throw std::runtime_error("enough");
    });
    if (not which.empty()) t->resume(which == older ? (folder / older).string() : which);
    return t->fit(source, monitor);
  };
  auto const whole = test::folder{};
  goes_on(whole.path(), "", "");
  auto const want = result_of(whole.path());
  CHECK(want.size() == 6 + 2);
  for (auto const* const at : {"start", "checkpoint", "step"}) {
    auto const failed = test::folder{};
    constexpr auto all = std::filesystem::copy_options::recursive;
    copy(whole.path(), failed.path(), all | std::filesystem::copy_options::overwrite_existing);
    CHECK_THROWS_WITH(goes_on(failed.path(), older, at), "enough");
    if (at == std::string{"start"}) {
      CHECK_THROWS_WITH(goes_on(failed.path(), "", at), "enough");  // a new one as well
      CHECK(small::files_of(failed.path()) == small::files_of(whole.path()));
    }
    for (auto const& which : {older, std::string{"last"}, std::string{"best"}}) {
      INFO("failed at its " << at << ", then " << which);
      auto const folder = test::folder{};
      copy(failed.path(), folder.path(), all);
      CHECK(goes_on(folder.path(), which, "") == ending::finished);
      CHECK(result_of(folder.path()) == want);
    }
  }
}
TEST_CASE("model_checkpoint: what a checkpoint keeps stays where a fit fails, and another begins") {
  auto const data = small::points{};
  auto source = data.source();
  auto monitor = data.source(false);
  for (auto const resumes : {false, true}) {
    auto const folder = test::folder{};
    auto known = std::string{};
    auto t = watched(folder.path(), 1, {});
    auto const& keeps = static_cast<model_checkpoint&>(*t->callbacks[0]);
    static_cast<watching&>(*t->callbacks[1]).f = [&](auto const& here) {
      if (here == "checkpoint") known = keeps.best_name();
      if (here == "step" && not known.empty() && keeps.best_name() != known)
        throw std::runtime_error("enough");
    };
    CHECK_THROWS_WITH(t->fit(source, monitor), "enough");
    CHECK(keeps.best_name() != known);
    if (resumes) t->resume();
    CHECK_THROWS_WITH(t->fit(source, monitor), "enough");
    CHECK_NOTHROW(watched(folder.path(), 1, {})->resume("best"));
  }
}
