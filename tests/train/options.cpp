// SPDX-License-Identifier: MIT
#include <tessera/train/options.hpp>

#include <regex>

#include "small.hpp"

using namespace tessera;

namespace {
/// The notes of a training: the batches of its source, and those of its validations.
struct asked {
  std::string trained;
  std::string validated;
  ending how = ending::interrupted;
};
[[nodiscard]] auto ask(trainer_options options) -> asked {
  auto const data = small::points{};
  auto source = small::noted{data.source()};
  auto monitor = small::noted{data.source(false)};
  auto const t = small::make(std::move(options));
  auto const how = t->fit(source, monitor);
  return {*source.notes, *monitor.notes, how};
}
}  // namespace

TEST_CASE("options: limit_train_batches and limit_val_batches, as a number and as a share") {
  auto const counted = ask({.max_epochs = 2,
                            .limit_train_batches = 3,
                            .limit_val_batches = 1,
                            .num_sanity_val_steps = 0});
  CHECK(counted.trained == "|0 0 1 2|1 0 1 2");
  CHECK(counted.validated == "|0 0|0 0");
  auto const shares = ask({.max_epochs = 1,
                           .limit_train_batches = 0.5,
                           .limit_val_batches = 0.8,
                           .num_sanity_val_steps = 0});
  CHECK(shares.trained == "|0 0 1");
  CHECK(shares.validated == "|0 0 1 2 3");
  CHECK_THROWS_WITH(ask({.limit_train_batches = 0.1}),
                    "trainer: expected a limit_train_batches that leaves one of 5, got 0.1");
  CHECK_THROWS_WITH(ask({.limit_val_batches = 0.1}),
                    "trainer: expected a limit_val_batches that leaves one of 5, got 0.1");
}
TEST_CASE("options: overfit_batches 1 learns one batch by heart") {
  auto const data = small::points{};
  auto source = small::noted{data.source()};
  auto monitor = small::noted{data.source()};
  auto const t = small::make({.max_epochs = 600, .overfit_batches = 1});
  auto losses = std::vector<double>{};
  t->on_epoch = [&](epoch_report const& r) { losses.push_back(r.training_loss); };
  CHECK(t->fit(source, monitor) == ending::finished);
  CHECK(losses.back() < 0.01 * losses.front());
  auto want = std::string{};
  for (auto e = 0; e < 600; ++e) want += "|0 0";
  CHECK(*source.notes == want);
  CHECK(*monitor.notes == "|0 0" + want);
}
TEST_CASE("options: fast_dev_run is two batches of all, and leaves nothing") {
  auto const folder = test::folder{};
  struct counter : callback {
    int logs = 0;
    int validations = 0;
    void on_log(fit_control&, log_report const&) override { ++logs; }
    void on_validation_end(fit_control&, validation_report const&) override { ++validations; }
  };
  auto const seen = std::make_shared<counter>();
  auto const data = small::points{};
  auto source = small::noted{data.source()};
  auto monitor = small::noted{data.source(false)};
  auto const t = small::make({.max_epochs = 30,
                              .fast_dev_run = 2,
                              .log_every_n_steps = 1,
                              .folder = folder / "run",
                              .checkpoint_seconds = 0});
  t->callbacks = {seen};
  CHECK(t->fit(source, monitor) == ending::finished);
  CHECK(*source.notes == "|0 0 1");
  CHECK(*monitor.notes == "|0 0 1");
  CHECK(seen->logs == 0);
  CHECK(seen->validations == 1);
  CHECK(folder.files() == 0);
}
TEST_CASE("options: max_time ends a training that has no other end, with a validation") {
  auto const data = small::points{};
  auto source = data.source();
  auto monitor = data.source(false);
  auto const t = small::make({.max_epochs = 1'000'000'000, .max_time = 0.05});
  auto const begun = std::chrono::steady_clock::now();
  CHECK(t->fit(source, monitor) == ending::out_of_time);
  auto const passed = std::chrono::steady_clock::now() - begun;
  CHECK(passed > std::chrono::milliseconds{45});
  CHECK(passed < std::chrono::minutes{1});
  auto const& p = t->progress();
  CHECK(p.step > 0);
  CHECK(p.batch == 0);
  CHECK(p.step + p.cut == 5 * p.epoch);
  CHECK(t->evaluate(t->best(), monitor) == p.best);
  auto const short_one = small::make({.max_epochs = 1'000'000'000, .max_time = 1e-9});
  CHECK(short_one->fit(source, monitor) == ending::out_of_time);
  CHECK(short_one->progress().step == 1);
}
TEST_CASE("options: max_steps ends in the middle of an epoch, and a resume has nothing to do") {
  auto const folder = test::folder{};
  auto const options = trainer_options{.max_epochs = 10, .max_steps = 7, .folder = folder.path()};
  auto const data = small::points{};
  auto source = data.source();
  auto monitor = data.source(false);
  auto const t = small::make(options);
  auto reports = std::vector<epoch_report>{};
  t->on_epoch = [&](epoch_report const& r) { reports.push_back(r); };
  CHECK(t->fit(source, monitor) == ending::finished);
  CHECK(t->progress().updates == 7);
  CHECK(t->progress().epoch == 2);
  CHECK(t->progress().cut == 3);
  REQUIRE(reports.size() == 2);
  CHECK(reports[1].monitored_loss == t->evaluate(t->parameters(), monitor));
  auto const again = small::make(options);
  again->resume();
  CHECK(again->fit(source, monitor) == ending::finished);
  CHECK(again->progress().updates == 7);
  auto more = options;
  more.max_steps = 12;
  auto const longer = small::make(more);
  longer->resume();
  CHECK(longer->fit(source, monitor) == ending::finished);
  CHECK(longer->progress().updates == 12);
}
TEST_CASE("options: validations within an epoch, and every n-th one alone") {
  auto const validations = [](trainer_options options) {
    struct noting : callback {
      std::string steps;
      void on_validation_end(fit_control&, validation_report const& r) override {
        steps += std::to_string(r.step) + ' ';
      }
    };
    auto const notes = std::make_shared<noting>();
    auto const data = small::points{};
    auto source = data.source();
    auto monitor = data.source(false);
    auto const t = small::make(std::move(options));
    t->callbacks = {notes};
    t->fit(source, monitor);
    return notes->steps;
  };
  CHECK(validations({.max_epochs = 2}) == "5 10 ");
  CHECK(validations({.max_epochs = 2, .val_check_interval = 2}) == "2 4 5 7 9 10 ");
  CHECK(validations({.max_epochs = 2, .val_check_interval = 0.4}) == "2 4 5 7 9 10 ");
  CHECK(validations({.max_epochs = 5, .check_val_every_n_epoch = 2}) == "10 20 25 ");
  CHECK(validations({.max_epochs = 4, .val_check_interval = 3, .check_val_every_n_epoch = 2}) ==
        "8 10 18 20 ");
  CHECK(validations({.max_epochs = 2, .max_steps = 7, .val_check_interval = 2}) == "2 4 5 7 ");
}
TEST_CASE("options: a source that is also validated within an epoch goes on where it was") {
  auto const trained = [](auto& source, auto& monitor) {
    auto const t = small::make({.max_epochs = 2, .val_check_interval = 2});
    t->fit(source, monitor);
    return t->parameters();
  };
  auto const data = small::points{};
  auto source = data.source();
  auto same = data.source();
  auto other = data.source();
  auto const expected = trained(source, other);
  CHECK(test::same_parameters(trained(same, same), expected));
}
TEST_CASE("options: an epoch that is not validated has no such numbers in the log") {
  auto const folder = test::folder{};
  (void)ask({.max_epochs = 2, .check_val_every_n_epoch = 2, .folder = folder.path()});
  auto const log = test::text_of(folder / "log.csv");
  auto const first = log.substr(log.find("\n1,") + 1);
  CHECK(std::regex_search(first, std::regex{"^1,0.02,[0-9.e-]+,,[0-9.e-]+,[0-9.]+\n2,"}));
  CHECK(test::text_of(folder / "log.jsonl").find("\"monitored_loss\":null") != std::string::npos);
}
namespace {
struct broken : small::noted<decltype(small::points{}.source())> {
  template <class Slot> void load(std::size_t, std::size_t, std::size_t, Slot&) const {
    throw std::runtime_error("no such batch");
  }
};
}  // namespace
TEST_CASE("options: a validation that cannot be fails before the first step") {
  auto const data = small::points{};
  auto const steps = [&](std::uint64_t sanity) {
    auto source = data.source();
    auto monitor = broken{{data.source(false)}};
    auto const t = small::make({.max_epochs = 1, .num_sanity_val_steps = sanity});
    CHECK_THROWS_WITH(t->fit(source, monitor), "no such batch");
    return t->progress().step;
  };
  CHECK(steps(2) == 0);
  CHECK(steps(0) == 5);
  auto const sane = ask({.max_epochs = 1});
  CHECK(sane.validated == "|0 0 1|0 0 1 2 3 4");
}
TEST_CASE("options: a sanity check changes no bit") {
  auto const data = small::points{};
  auto source = data.source();
  auto monitor = data.source(false);
  auto const a = small::make({.max_epochs = 2, .num_sanity_val_steps = 0});
  auto const b = small::make({.max_epochs = 2, .num_sanity_val_steps = 2});
  a->fit(source, monitor);
  b->fit(source, monitor);
  CHECK(test::same_parameters(a->parameters(), b->parameters()));
}
TEST_CASE("options: values of the gradient are clipped") {
  struct looking : callback {
    double largest = 0;
    void on_optimizer_step(fit_control&, step_report const& r) override {
      r.for_each([&](std::string_view, numbers_view, numbers_view gradient) {
        for (auto i = std::size_t{0}; i < gradient.size(); ++i)
          largest = std::max(largest, std::abs(gradient[i]));
      });
    }
  };
  auto const largest = [](trainer_options options) {
    auto const look = std::make_shared<looking>();
    auto const data = small::points{};
    auto source = data.source();
    auto const t = small::make(std::move(options));
    t->callbacks = {look};
    t->fit(source);
    return look->largest;
  };
  auto const free = largest({.max_epochs = 1});
  auto const most = 0.25 * free;
  CHECK(largest({.max_epochs = 1, .gradient_clip_val = most, .gradient_clip_algorithm = "value"}) ==
        Approx(most));
  CHECK(largest({.max_epochs = 1, .gradient_clip_val = 1e-3}) <= 1e-3);
}
TEST_CASE("options: the updates of a training are those of what its limits leave") {
  auto const updates = [](trainer_options const& o, std::uint64_t batches) {
    return o.updates_of(batches);
  };
  CHECK(updates({.max_epochs = 3}, 10) == 30);
  CHECK(updates({.max_epochs = 3, .accumulate_grad_batches = 4}, 10) == 9);
  CHECK(updates({.max_epochs = 3, .limit_train_batches = 0.25}, 10) == 6);
  CHECK(updates({.max_epochs = 3, .overfit_batches = 1}, 10) == 3);
  CHECK(updates({.max_epochs = 3, .max_steps = 7}, 10) == 7);
  CHECK(updates({.max_epochs = 3, .max_steps = 70}, 10) == 30);
  CHECK(updates({.max_epochs = 3, .fast_dev_run = 2}, 10) == 2);
}
TEST_CASE("options: facts are those that change what a step or a validation does") {
  auto const others = [](trainer_options const& o) {
    auto names = std::string{};
    auto const usual = trainer_options{}.facts();
    for (auto const& [name, value] : o.facts())
      if (value != usual.at(name)) names += (names.empty() ? "" : " ") + name;
    return names;
  };
  CHECK(others({.dropout = 0.5F}) == "dropout");
  CHECK(others({.gradient_clip_val = 1}) == "gradient_clip_val");
  CHECK(others({.gradient_clip_algorithm = "value"}) == "gradient_clip_algorithm");
  CHECK(others({.accumulate_grad_batches = 2}) == "accumulate_grad_batches");
  CHECK(others({.limit_val_batches = 1}) == "limit_val_batches");
  CHECK(others({.overfit_batches = 1}) == "overfit_batches");
  CHECK(others({.val_check_interval = 1}) == "val_check_interval");
  CHECK(others({.check_val_every_n_epoch = 2}) == "check_val_every_n_epoch");
  CHECK(others({.precision = "bf16"}) == "precision");
  CHECK(others({.model = "m"}) == "model");
  CHECK(others({.monitor = "accuracy"}) == "monitor");
  CHECK(others({.max_epochs = 3,
                .max_steps = 7,
                .max_time = 9,
                .num_sanity_val_steps = 0,
                .log_every_n_steps = 1,
                .threads = 2,
                .folder = "f",
                .checkpoint_seconds = 0,
                .stop_after_batches = 4})
            .empty());
}
