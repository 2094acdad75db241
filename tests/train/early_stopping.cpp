// SPDX-License-Identifier: MIT
#include <tessera/train/early_stopping.hpp>

#include <set>

#include "small.hpp"

using namespace tessera;

namespace {
/// A training that is only looked at.
struct stopped : fit_control {
  trainer_options o;
  training_progress p;
  bool stops = false;
  [[nodiscard]] auto options() const -> trainer_options const& override { return o; }
  [[nodiscard]] auto progress() const -> training_progress const& override { return p; }
  void stop() override { stops = true; }
  void log(std::string_view, double) override {}
  void save(std::filesystem::path const&) override {}
  void request_checkpoint() override {}
};
/// The number of the validation that stops; 0 where none does.
[[nodiscard]] auto stops_at(early_stopping_options options, std::vector<double> const& values,
                            bool more_is_better = false) -> std::size_t {
  options.monitor = "score";
  auto rule = early_stopping(options);
  auto fit = stopped{};
  for (auto i = std::size_t{0}; i < values.size(); ++i) {
    // Resumed after each of them.
    auto next = early_stopping(options);
    next.restore(rule.state());
    rule.restore(next.state());
    rule.on_validation_end(fit, {.scores = {{"loss", 0}, {"score", values[i], more_is_better}}});
    if (fit.stops) return i + 1;
  }
  return 0;
}
}  // namespace

TEST_CASE("early_stopping: patience counts validations without improvement") {
  CHECK(stops_at({.patience = 2}, {5, 4, 4, 3, 3, 3}) == 6);
  CHECK(stops_at({.patience = 2}, {5, 4, 4, 3, 3}) == 0);
  CHECK(stops_at({.min_delta = 0.5, .patience = 2}, {5, 4.6, 4.4, 4, 4}) == 5);
  CHECK(stops_at({.patience = 1}, {1, 2, 3}, true) == 0);
  CHECK(stops_at({.patience = 1}, {3, 2}, true) == 2);
}
TEST_CASE("early_stopping: the mode is over what the score says of itself") {
  CHECK(stops_at({.mode = monitor_mode::max, .patience = 1}, {3, 2}) == 2);
  CHECK(stops_at({.mode = monitor_mode::min, .patience = 1}, {3, 2}, true) == 0);
}
TEST_CASE("early_stopping: good enough, too bad, or no number at all") {
  CHECK(stops_at({.stopping_threshold = 1}, {3, 1, 0.9}) == 3);
  CHECK(stops_at({.stopping_threshold = 0.9}, {0.5, 0.95}, true) == 2);
  CHECK(stops_at({.divergence_threshold = 10}, {3, 10, 11}) == 3);
  CHECK(stops_at({.patience = 9}, {3, NAN}) == 2);
  CHECK(stops_at({.patience = 9, .check_finite = false}, {3, NAN}) == 0);
}
TEST_CASE("early_stopping: each option is in what a resume compares") {
  auto const settings = [](early_stopping_options const& options) {
    return early_stopping(options).settings();
  };
  auto const all = std::set{settings({}),
                            settings({.monitor = "score"}),
                            settings({.mode = monitor_mode::max}),
                            settings({.mode = monitor_mode::min}),
                            settings({.min_delta = 0.5}),
                            settings({.patience = 2}),
                            settings({.stopping_threshold = 1}),
                            settings({.divergence_threshold = 1}),
                            settings({.check_finite = false})};
  CHECK(all.size() == 9);
}
TEST_CASE("early_stopping: options that are none, and a monitor that is not there") {
  CHECK_THROWS_WITH(early_stopping({.min_delta = -1}),
                    "early_stopping: expected a min_delta of 0 or more, got -1");
  CHECK_THROWS_WITH(early_stopping({.patience = 0}), Catch::Contains("patience of 1 or more"));
  auto const data = small::points{};
  auto source = data.source();
  auto const t = small::make({});
  t->callbacks = {std::make_shared<early_stopping>(early_stopping_options{.monitor = "accuracy"})};
  CHECK_THROWS_WITH(t->fit(source), "early_stopping: expected a monitor of loss, got accuracy");
}
TEST_CASE("early_stopping: a training that it stopped stays so when it is resumed") {
  auto const folder = test::folder{};
  auto const data = small::points{};
  auto source = data.source();
  auto monitor = data.source(false);
  for (auto const resumes : {false, true}) {
    auto const t =
        small::make({.max_epochs = 50, .val_check_interval = 2, .folder = folder.path()});
    t->callbacks = {
        std::make_shared<early_stopping>(early_stopping_options{.min_delta = 1e9, .patience = 3})};
    if (resumes) t->resume();
    CHECK(t->fit(source, monitor) == ending::stopped_early);
    CHECK(t->progress().updates == 7);  // validated after 2, 4, 5 and 7: no better three times
  }
}
