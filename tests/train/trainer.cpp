// SPDX-License-Identifier: MIT
#include <support/allocations.hpp>
#include <support/folder.hpp>
#include <support/test.hpp>
#include <tessera/data/batches.hpp>
#include <tessera/train/early_stopping.hpp>
#include <tessera/train/trainer.hpp>

#include <csignal>

using namespace tessera;

namespace {

using windowed_model =
    sequential<lstm<2, 8, lstm_options{.layers = 2, .dropout = at_run_time}>, linear<8, 1>>;
using windowed =
    training<windowed_model, tensor<float, shape<at_most(12), at_most(4), 2>>, adam, 4>;
using carried_model = sequential<lstm<2, 8>, linear<8, 1>>;
using carried = training<carried_model, tensor<float, shape<at_most(10), at_most(2), 2>>, adam, 2>;

/// Sines of several frequencies, and what they were four samples ago.
[[nodiscard]] auto sines(std::size_t lanes, std::size_t length) {
  auto data = std::make_shared<recordings>();
  for (auto r = std::size_t{0}; r < lanes; ++r) {
    auto one = recording{};
    one.inputs = xt::xtensor<float, 2>(std::array<std::size_t, 2>{length, 2});
    one.targets = xt::xtensor<float, 2>(std::array<std::size_t, 2>{length, 1});
    for (auto n = std::size_t{0}; n < length; ++n) {
      auto const at = [&](double t) {
        return static_cast<float>(std::sin(t * (0.1 + 0.07 * static_cast<double>(r))));
      };
      one.inputs(n, 0) = at(static_cast<double>(n));
      one.inputs(n, 1) = 1;
      one.targets(n, 0) = at(static_cast<double>(n) - 4);
    }
    data->push_back(one);
  }
  return data;
}
[[nodiscard]] auto windows_of(std::shared_ptr<recordings> const& data, bool in_order = false) {
  return window_batches(data, windows(as_parts(*data), 12), 14, in_order, 3);
}
template <class Training, class Schedule = constant_rate>
[[nodiscard]] auto make(trainer_options options, Schedule schedule = {}) {
  using trainer_type = trainer<Training, mse, Schedule>;
  auto t = std::make_unique<trainer_type>(std::move(options), adam{.rate = 0.01}, schedule, mse{});
  auto g = torch_generator(1);
  Training::model::initialize(t->parameters(), g);
  return t;
}
/// A source that has three epochs, the last one of one batch.
template <class Source> struct of_three_epochs {
  static constexpr bool carries = false;
  static constexpr bool epochs_differ = true;
  Source source;
  std::uint64_t epoch = 0;
  [[nodiscard]] static auto epochs() -> std::uint64_t { return 3; }
  [[nodiscard]] auto size() const -> std::size_t {
    return epoch == 2 ? 1 : epoch > 2 ? 0 : source.size();
  }
  void begin(std::uint64_t e) {
    epoch = e;
    source.begin(e);
  }
  template <class Slot>
  void load(std::size_t batch, std::size_t chunk, std::size_t chunks, Slot& to) const {
    source.load(batch, chunk, chunks, to);
  }
};
template <class Source> of_three_epochs(Source) -> of_three_epochs<Source>;
[[nodiscard]] auto bytes_of_file(std::filesystem::path const& path) { return test::text_of(path); }

}  // namespace

TEST_CASE("trainer: it learns, and the best parameters are those of the best epoch") {
  auto const data = sines(3, 60);
  auto source = windows_of(data);
  auto monitor = windows_of(data, true);
  auto const t = make<windowed>({.max_epochs = 20, .gradient_clip_val = 1});
  auto const before = t->evaluate(t->parameters(), monitor);
  auto reports = std::vector<epoch_report>{};
  t->on_epoch = [&](epoch_report const& r) { reports.push_back(r); };
  CHECK(t->fit(source, monitor) == ending::finished);
  REQUIRE(reports.size() == 20);
  CHECK(t->progress().best < 0.3 * before);
  CHECK(t->evaluate(t->best(), monitor) == t->progress().best);
  auto least = reports[0].monitored_loss;
  for (auto const& r : reports) least = std::min(least, r.monitored_loss);
  CHECK(least == t->progress().best);
}
TEST_CASE("trainer: the same bits by any number of threads, with dropout") {
  auto const data = sines(3, 40);
  auto files = std::vector<std::string>{};
  for (auto const threads : {1U, 2U, 4U}) {
    auto const folder = test::folder{};
    auto source = windows_of(data);
    auto monitor = windows_of(data, true);
    auto const t = make<windowed>({.max_epochs = 3,
                                   .seed = 5,
                                   .dropout = 0.2F,
                                   .gradient_clip_val = 1,
                                   .threads = threads,
                                   .folder = folder.path()});
    t->fit(source, monitor);
    files.push_back(bytes_of_file(t->checkpoint_file()));
  }
  CHECK(files[0].size() > 1000);
  CHECK(files[0] == files[1]);
  CHECK(files[0] == files[2]);
}
TEST_CASE("trainer: stopped anywhere and resumed, the checkpoint has the same bytes") {
  auto const data = sines(3, 40);
  auto const check = [&]<class Training>(std::type_identity<Training>, auto make_source) {
    auto const options = [](std::filesystem::path const& folder) {
      return trainer_options{.max_epochs = 4,
                             .seed = 5,
                             .dropout = 0.3F,
                             .gradient_clip_val = 0.5,
                             .folder = folder,
                             .checkpoint_seconds = 0};
    };
    auto const plateau = reduce_on_plateau{.factor = 0.5, .patience = 0};
    auto const whole_run = test::folder{};
    auto want = make<Training>(options(whole_run.path()), plateau);
    auto source = make_source(false);
    auto monitor = make_source(true);
    want->fit(source, monitor);
    for (auto const first_stop : {1U, 3U, 8U}) {
      auto const folder = test::folder{};
      auto stop = std::uint64_t{first_stop};
      auto how = ending::interrupted;
      for (auto runs = 0; how == ending::interrupted; ++runs) {
        REQUIRE(runs < 100);
        auto o = options(folder.path());
        o.stop_after_batches = stop;
        stop = stop % 7 + 2;
        auto t = make<Training>(o, plateau);
        if (runs > 0) t->resume();
        auto again = make_source(false);
        auto eye = make_source(true);
        how = t->fit(again, eye);
      }
      CHECK(bytes_of_file(folder / "checkpoint.safetensors") ==
            bytes_of_file(want->checkpoint_file()));
      auto const log = bytes_of_file(folder / "log.csv");
      CHECK(std::count(log.begin(), log.end(), '\n') == 5);
    }
  };
  check(std::type_identity<windowed>{}, [&](bool in_order) { return windows_of(data, in_order); });
  check(std::type_identity<carried>{}, [&](bool) { return lane_batches(data, 10); });
}
TEST_CASE("trainer: a signal ends the batch, saves, and leaves") {
  auto const data = sines(3, 40);
  auto const folder = test::folder{};
  auto source = windows_of(data);
  auto monitor = windows_of(data, true);
  auto const t = make<windowed>({.max_epochs = 5, .folder = folder.path()});
  auto const guard = interrupt_guard{};
  t->on_batch = [](std::uint64_t batch, std::uint64_t) {
    if (batch == 2) (void)std::raise(SIGINT);
  };
  CHECK(t->fit(source, monitor) == ending::interrupted);
  CHECK(t->progress().batch == 2);
  auto const u = make<windowed>({.max_epochs = 5, .folder = folder.path()});
  u->resume();
  CHECK(u->progress().batch == 2);
  CHECK(test::same_parameters(u->parameters(), t->parameters()));
  auto const other = make<windowed>({.max_epochs = 5, .seed = 1, .folder = folder.path()});
  CHECK_THROWS_WITH(other->resume(), Catch::Contains("was trained with seed 0, expected 1"));
}
TEST_CASE("trainer: patience ends a training that gets no better") {
  auto const data = sines(3, 40);
  auto source = windows_of(data);
  auto monitor = windows_of(data, true);
  auto const t = make<windowed>({.max_epochs = 50});
  t->callbacks = {
      std::make_shared<early_stopping>(early_stopping_options{.min_delta = 1e9, .patience = 2})};
  CHECK(t->fit(source, monitor) == ending::stopped_early);
  CHECK(t->progress().epoch == 3);  // the first one is better than nothing
}
TEST_CASE("trainer: a batch allocates nothing") {
  auto const data = sines(3, 40);
  auto source = windows_of(data);
  auto monitor = windows_of(data, true);
  auto const t = make<windowed>({.max_epochs = 2, .gradient_clip_val = 1});
  auto counts = std::vector<decltype(test::allocations())>(100);
  auto n = std::size_t{0};
  t->on_batch = [&](std::uint64_t, std::uint64_t) { counts[n++] = test::allocations(); };
  t->fit(source, monitor);
  REQUIRE(n == 2 * source.size());
  for (auto i = std::size_t{1}; i < n; ++i)
    if (i != source.size()) CHECK(counts[i] == counts[i - 1]);
}
TEST_CASE("trainer: a loss that is no number stops it, and names where it came from") {
  auto const data = sines(3, 40);
  (*data)[1].inputs(20, 0) = NAN;
  auto source = windows_of(data);
  auto monitor = windows_of(data, true);
  auto const t = make<windowed>({.max_epochs = 2});
  CHECK_THROWS_WITH(t->fit(source, monitor),
                    Catch::Contains("epoch 1, batch 1") &&
                        Catch::Contains("the input of the model is not finite"));
  auto const clean = sines(3, 40);
  auto more = windows_of(clean);
  auto const u = make<windowed>({.max_epochs = 2});
  get<1>(u->parameters()).bias.values[0] = INFINITY;
  CHECK_THROWS_WITH(u->fit(more, more), Catch::Contains("the parameter 1.bias is not finite"));
}
TEST_CASE("trainer: options that are none are refused by name") {
  auto const refuses = [](trainer_options const& options, char const* words) {
    CHECK_THROWS_WITH(make<windowed>(options), Catch::Contains(words));
  };
  refuses({.max_epochs = 0}, "trainer: expected at least one epoch");
  refuses({.dropout = 1}, "trainer: expected a dropout from 0 and below 1, got 1");
  refuses({.dropout = -0.5F}, "expected a dropout");
  refuses({.dropout = NAN}, "expected a dropout");
  refuses({.gradient_clip_val = NAN},
          "trainer: expected a gradient_clip_val of 0 or more, got nan");
  refuses({.gradient_clip_val = -1}, "expected a gradient_clip_val");
  refuses({.gradient_clip_algorithm = "sum"},
          "gradient_clip_algorithm of norm or value, got \"sum\"");
  refuses({.accumulate_grad_batches = 0}, "accumulate_grad_batches of 1 or more");
  refuses({.limit_train_batches = 0}, "limit_train_batches above 0");
  refuses({.limit_val_batches = 0.0}, "limit_val_batches above 0");
  refuses({.val_check_interval = 0}, "val_check_interval above 0");
  refuses({.check_val_every_n_epoch = 0}, "check_val_every_n_epoch of 1");
  refuses({.log_every_n_steps = 0}, "log_every_n_steps of 1");
  refuses({.max_time = NAN}, "max_time of 0 seconds or more, got nan");
  refuses({.precision = "16"}, "precision of 32 or bf16, got \"16\"");
}
TEST_CASE("trainer: weights that the last step made infinite do not end as finished") {
  auto const data = sines(1, 12);
  auto source = windows_of(data);
  auto monitor = windows_of(data, true);
  using trainer_type = trainer<windowed, mse>;
  auto t = trainer_type({.max_epochs = 1}, adam{.rate = INFINITY}, {}, {});
  auto g = torch_generator(1);
  windowed_model::initialize(t.parameters(), g);
  REQUIRE(source.size() == 1);
  CHECK_THROWS_AS(t.fit(source, monitor), diverged_error);
}
TEST_CASE("trainer: it resumes nothing of other settings, and no log of another run") {
  auto const data = sines(3, 40);
  auto const folder = test::folder{};
  auto const options = [&](std::uint64_t epochs, char const* settings) {
    return trainer_options{.max_epochs = epochs, .folder = folder.path(), .settings = settings};
  };
  auto source = windows_of(data);
  auto monitor = windows_of(data, true);
  auto o = options(3, "rate: 0.01");
  o.stop_after_batches = 2 * source.size() + 1;
  auto const t = make<windowed>(o);
  auto checkpoints = 0;
  t->on_checkpoint = [&] { ++checkpoints; };
  CHECK(t->fit(source, monitor) == ending::interrupted);
  CHECK(checkpoints == 2);
  auto const other = make<windowed>(options(3, "rate: 0.02"));
  CHECK_THROWS_WITH(other->resume(), Catch::Contains("rate: expected 0.02, got 0.01"));
  auto const fewer = make<windowed>(options(1, "rate: 0.01"));
  fewer->resume();
  CHECK_THROWS_WITH(fewer->fit(source, monitor), Catch::Contains("epoch is after the last one"));
  auto const log = test::text_of(folder / "log.csv");
  write_file(folder / "log.csv", log.substr(0, log.find('\n', log.find("\n1,") + 1) + 1));
  auto const same = make<windowed>(options(3, "rate: 0.01"));
  same->resume();
  CHECK_THROWS_WITH(same->fit(source, monitor), Catch::Contains("log.csv: expected the rows"));
  write_file(folder / "log.csv", log);
  auto const again = make<windowed>(options(3, "rate: 0.01"));
  again->resume();
  CHECK(again->fit(source, monitor) == ending::finished);
}
TEST_CASE("trainer: a checkpoint that is refused changes nothing, neither numbers nor callbacks") {
  struct counting : callback {
    bool refuses = false;
    std::string text = "0";
    [[nodiscard]] auto settings() const -> std::string override { return "counting"; }
    [[nodiscard]] auto state() const -> std::string override { return text; }
    void restore(std::string const& to) override {
      if (refuses && to != "0") throw std::invalid_argument("is no state");
      text = to;
    }
    void on_train_epoch_end(fit_control&, epoch_report const& r) override {
      text = std::to_string(r.epoch);
    }
  };
  auto const data = sines(3, 40);
  auto const folder = test::folder{};
  auto source = windows_of(data);
  auto const of_seed = [&](std::uint64_t seed) {
    auto t = make<windowed>({.max_epochs = 2, .seed = seed, .folder = folder.path()});
    t->callbacks = {std::make_shared<counting>(), std::make_shared<counting>()};
    return t;
  };
  of_seed(1)->fit(source);
  auto const check = [&](auto& t, char const* why) {
    auto const before = t.parameters();
    CHECK_THROWS_WITH(t.resume(), Catch::Contains(why));
    CHECK(test::same_parameters(t.parameters(), before));
    CHECK(t.progress().step == 0);
    for (auto const& one : t.callbacks) CHECK(one->state() == "0");
  };
  check(*of_seed(2), "was trained with seed 1, expected 2");
  auto const t = of_seed(1);
  std::static_pointer_cast<counting>(t->callbacks[1])->refuses = true;
  check(*t, "is no state");
}
TEST_CASE("trainer: the best parameters are the present ones until something was judged") {
  auto const data = sines(3, 40);
  auto source = windows_of(data);
  auto monitor = windows_of(data, true);
  auto const t = make<windowed>({.max_epochs = 2, .stop_after_batches = 1});
  CHECK(test::same_parameters(t->best(), t->parameters()));
  CHECK(t->fit(source, monitor) == ending::interrupted);
  CHECK(test::same_parameters(t->best(), t->parameters()));
  CHECK(t->test(monitor)[0].value == t->evaluate(t->parameters(), monitor));
}
TEST_CASE("trainer: interrupted at what is the last step of all, it ends the epoch when resumed") {
  auto const data = sines(3, 40);
  auto source = windows_of(data);
  auto monitor = windows_of(data, true);
  auto const steps = source.size() - 1;
  auto const whole = test::folder{};
  auto const parts = test::folder{};
  auto const options = [&](test::folder const& folder) {
    return trainer_options{
        .max_epochs = 5, .max_steps = steps, .folder = folder.path(), .checkpoint_seconds = 0};
  };
  auto const want = make<windowed>(options(whole));
  CHECK(want->fit(source, monitor) == ending::finished);
  auto o = options(parts);
  o.max_steps = 0;
  o.stop_after_batches = steps;
  auto const t = make<windowed>(o);
  REQUIRE(t->fit(source, monitor) == ending::interrupted);
  CHECK(t->progress().updates == steps);
  CHECK(t->progress().validations == 0);
  auto const again = make<windowed>(options(parts));
  again->resume();
  CHECK(again->fit(source, monitor) == ending::finished);
  CHECK(again->progress().updates == steps);
  CHECK(again->progress().validations == 1);
  CHECK(again->progress().cut == 1);
  CHECK(bytes_of_file(again->checkpoint_file()) == bytes_of_file(want->checkpoint_file()));
}
TEST_CASE("trainer: an epoch's rate is that of its last step") {
  auto const data = sines(3, 40);
  auto source = windows_of(data);
  auto const schedule = by_step{cosine_lr{.period = 2 * source.size()}};
  auto const t = make<windowed>({.max_epochs = 2}, schedule);
  auto last = 0.0;
  auto epochs = std::vector<std::pair<double, double>>{};
  t->on_step = [&](step_report const& r) { last = r.rate; };
  t->on_epoch = [&](epoch_report const& r) { epochs.emplace_back(r.rate, last); };
  t->fit(source);
  REQUIRE(epochs.size() == 2);
  for (auto const& [told, was] : epochs) CHECK(told == was);
  CHECK(epochs[1].first > 0);
}
TEST_CASE("trainer: a source of fewer epochs than are allowed ends the training with its last") {
  auto const data = sines(3, 40);
  auto const folder = test::folder{};
  auto source = of_three_epochs{windows_of(data)};
  auto const steps = 2 * source.size() + 1;
  auto o = trainer_options{
      .max_epochs = 10, .folder = folder.path(), .stop_after_batches = 2 * source.size()};
  auto const t = make<windowed>(o);
  CHECK(t->fit(source) == ending::interrupted);
  o.stop_after_batches = 0;
  auto const again = make<windowed>(o);
  auto fresh = of_three_epochs{windows_of(data)};
  again->resume();
  CHECK(again->fit(fresh) == ending::finished);
  CHECK(again->progress().updates == steps);
  CHECK(again->fit(fresh) == ending::finished);
  auto const last = make<windowed>(o);
  auto another = of_three_epochs{windows_of(data)};
  last->resume();
  CHECK(last->fit(another) == ending::finished);
}
TEST_CASE("trainer: another folder's checkpoint is gone on with in a new folder, with its log") {
  auto const data = sines(3, 40);
  auto source = windows_of(data);
  auto const options = [](std::filesystem::path const& folder, std::uint64_t epochs) {
    return trainer_options{.max_epochs = epochs, .folder = folder};
  };
  auto const old = test::folder{};
  make<windowed>(options(old.path(), 2))->fit(source);
  auto const file = old / "checkpoint.safetensors";
  std::filesystem::create_directory(old / "some");
  copy(file, old / "some/one");
  auto const log = bytes_of_file(old / "log.csv");
  for (auto const& from : {file, old / "some/one"}) {
    auto const folder = test::folder{};
    auto const t = make<windowed>(options(folder / "new", 3));
    t->resume(from.string());
    CHECK(t->fit(source) == ending::finished);
    CHECK(bytes_of_file(folder / "new/log.csv").starts_with(log));
    CHECK(read_epoch_log(folder / "new").size() == 3);
    auto const again = make<windowed>(options(folder / "new", 4));
    again->resume();
    CHECK(again->fit(source) == ending::finished);
  }
  CHECK(bytes_of_file(old / "log.csv") == log);
  auto const alone = test::folder{};
  copy(file, alone / "one");
  auto const t = make<windowed>(options(alone / "new", 3));
  t->resume((alone / "one").string());
  CHECK_THROWS_WITH(t->fit(source), Catch::Contains("new/log.csv: expected the rows of epochs 1"));
  CHECK(std::filesystem::is_empty(alone / "new"));
}
