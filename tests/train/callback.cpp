// SPDX-License-Identifier: MIT
#include <tessera/train/callback.hpp>

#include "small.hpp"

using namespace tessera;

namespace {
/// Notes who was called.
struct noting : callback {
  std::string notes;
  std::uint64_t stops_at = 0;
  bool throws_there = false;

  void on_fit_start(fit_control&) override { notes += "fit("; }
  void on_train_epoch_start(fit_control&, std::uint64_t batches) override {
    notes += "epoch" + std::to_string(batches) + '(';
  }
  void on_train_batch_end(fit_control&, batch_report const& r) override {
    notes += "b" + std::to_string(r.batch) + ' ';
  }
  void on_optimizer_step(fit_control& fit, step_report const& r) override {
    notes += "s" + std::to_string(r.step) + ' ';
    if (r.step != stops_at) return;
    if (throws_there) throw std::runtime_error("enough");
    fit.stop();
  }
  void on_validation_start(fit_control&) override { notes += "val("; }
  void on_validation_end(fit_control&, validation_report const&) override { notes += ") "; }
  void on_train_epoch_end(fit_control&, epoch_report const&) override { notes += ") "; }
  void between_steps(fit_control&) override { notes += "- "; }
  void on_checkpoint(fit_control&) override { notes += "c "; }
  void on_fit_end(fit_control&, ending how) override {
    notes += ")" + std::to_string(static_cast<int>(how));
  }
  void on_exception(fit_control&, std::exception const& e) override { notes += e.what(); }
};
struct logging : callback {
  std::string names;
  void on_log(fit_control&, log_report const& r) override {
    for (auto const& one : r.numbers) {
      CHECK(std::isfinite(one.value));
      names += std::string{one.name} + '@' + std::to_string(r.step) + ' ';
    }
  }
};
struct distance {
  static constexpr auto name = "distance";
  [[nodiscard]] static auto terms(auto target) -> std::size_t { return target.size(); }
  [[nodiscard]] static auto value(auto y, auto target) -> double {
    return mean_absolute_error::value(y, target);
  }
};
}  // namespace

TEST_CASE("callback: all of them are told of every boundary, in order") {
  auto const folder = test::folder{};
  auto const data = small::points{};
  auto source = data.source();
  auto monitor = data.source(false);
  auto const t = small::make({.max_epochs = 2,
                              .accumulate_grad_batches = 2,
                              .limit_train_batches = 3,
                              .folder = folder.path(),
                              .checkpoint_seconds = 1e9});
  auto const one = std::make_shared<noting>();
  auto const two = std::make_shared<noting>();
  t->callbacks = {one, two};
  CHECK(t->fit(source, monitor) == ending::finished);
  CHECK(one->notes ==
        "fit(c epoch3(b1 s1 b2 - s2 b3 val() ) - epoch3(b1 s3 b2 - s4 b3 val() ) - c )0");
  CHECK(two->notes == one->notes);
}
TEST_CASE("callback: one that stops ends the epoch with its validation") {
  auto const data = small::points{};
  auto source = data.source();
  auto monitor = data.source(false);
  auto const t = small::make({.max_epochs = 9, .limit_train_batches = 3});
  auto const one = std::make_shared<noting>();
  one->stops_at = 4;
  t->callbacks = {one};
  CHECK(t->fit(source, monitor) == ending::stopped_early);
  CHECK(one->notes.ends_with("epoch3(s4 b1 val() ) - )1"));
  CHECK(t->progress().cut == 2);
}
TEST_CASE("callback: what ends a training is told, and thrown on") {
  auto const data = small::points{};
  auto source = data.source();
  auto const t = small::make({});
  auto const one = std::make_shared<noting>();
  one->stops_at = 2;
  one->throws_there = true;
  t->callbacks = {one};
  CHECK_THROWS_WITH(t->fit(source), "enough");
  CHECK(one->notes.ends_with("s2 enough"));
}
TEST_CASE("callback: every score arrives by its name") {
  auto const data = small::points{};
  auto source = data.source();
  auto monitor = data.source(false);
  auto const t = small::make({.max_epochs = 1, .log_every_n_steps = 2});
  auto const one = std::make_shared<logging>();
  t->callbacks = {one};
  t->fit(source, monitor, distance{});
  CHECK(one->names ==
        "train_loss@2 gradient_norm@2 train_loss@4 gradient_norm@4 val_loss@5 val_distance@5 ");
  one->names.clear();
  auto const scores = t->test(monitor, distance{});
  CHECK(one->names == "test_loss@5 test_distance@5 ");
  CHECK(scores[0].value == t->progress().best);
  CHECK(scores[1].name == "distance");
  auto const without = small::make({.max_epochs = 1, .log_every_n_steps = 2});
  one->names.clear();
  without->callbacks = {one};
  without->fit(source);
  CHECK(one->names == "train_loss@2 gradient_norm@2 train_loss@4 gradient_norm@4 ");
}
TEST_CASE("callback: names, values and gradients of the parameters are there on request") {
  struct looking : callback {
    std::string names;
    double first = 0;
    double squares = 0;
    double norm = 0;
    void on_optimizer_step(fit_control&, step_report const& r) override {
      names.clear();
      squares = 0;
      norm = r.gradient_norm;
      r.for_each([&](std::string_view name, numbers_view values, numbers_view gradient) {
        if (names.empty()) first = values[0];
        names += std::string{name} + ':' + std::to_string(values.size()) + ' ';
        REQUIRE(gradient.size() == values.size());
        for (auto i = std::size_t{0}; i < gradient.size(); ++i)
          squares += gradient[i] * gradient[i];
      });
    }
  };
  auto const data = small::points{};
  auto source = data.source();
  auto const t = small::make({.max_epochs = 1});
  auto const one = std::make_shared<looking>();
  t->callbacks = {one};
  t->fit(source);
  CHECK(one->names == "0.weight:12 0.bias:6 2.weight:6 2.bias:1 ");
  CHECK(one->first == static_cast<double>(get<0>(t->parameters()).weight.values[0]));
  CHECK(std::sqrt(one->squares) == Approx(one->norm));
}
TEST_CASE("callback: another's state is resumed by none, and one that is none is refused") {
  struct counting : callback {
    std::uint64_t steps = 0;
    void on_optimizer_step(fit_control&, step_report const&) override { ++steps; }
    [[nodiscard]] auto settings() const -> std::string override { return "counting()"; }
    [[nodiscard]] auto state() const -> std::string override { return std::to_string(steps); }
    void restore(std::string const& state) override {
      if (state != "5") throw std::invalid_argument("not 5");
      steps = 5;
    }
  };
  auto const folder = test::folder{};
  auto const data = small::points{};
  auto source = data.source();
  auto const trained = [&](std::uint64_t epochs) {
    auto t = small::make({.max_epochs = epochs, .folder = folder.path()});
    t->callbacks = {std::make_shared<callback>(), std::make_shared<counting>()};
    return t;
  };
  trained(1)->fit(source);
  auto const without = small::make({.folder = folder.path()});
  CHECK_THROWS_WITH(without->resume(), Catch::Contains("callbacks \"counting() \", expected \"\""));
  auto const longer = trained(2);
  longer->resume();
  longer->fit(source);
  CHECK_THROWS_WITH(trained(3)->resume(), Catch::Contains("checkpoint.safetensors: not 5"));
}
TEST_CASE("callback: a test is told with its scores") {
  struct tested : callback {
    std::vector<named_score> scores;
    void on_test_end(fit_control&, std::vector<named_score> const& s) override { scores = s; }
  };
  auto const data = small::points{};
  auto source = data.source(false);
  auto const t = small::make({});
  auto const one = std::make_shared<tested>();
  t->callbacks = {one};
  auto const found = t->test(source, distance{});
  REQUIRE(one->scores.size() == 2);
  CHECK(one->scores[0].value == found[0].value);
  CHECK(one->scores[1].name == "distance");
}
