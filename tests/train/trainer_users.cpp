// SPDX-License-Identifier: MIT
#include <support/folder.hpp>
#include <support/test.hpp>
#include <tessera/data/tensor_batches.hpp>
#include <tessera/train/early_stopping.hpp>
#include <tessera/train/trainer.hpp>

#include <xtensor/xtensor.hpp>

using namespace tessera;

// Models, optimizers, losses and parts of users, beside those that the library's own programs have.
namespace {

/// Points of the plane, and which of three corners is the nearest.
struct points {
  xt::xtensor<float, 2> x = xt::xtensor<float, 2>(std::array<std::size_t, 2>{50, 2});
  xt::xtensor<std::int64_t, 1> corner =
      xt::xtensor<std::int64_t, 1>(std::array<std::size_t, 1>{50});

  points() {
    auto g = torch_generator(4);
    for (auto i = std::size_t{0}; i < 50; ++i) {
      for (auto k = std::size_t{0}; k < 2; ++k) x(i, k) = 2 * g.rand<float>() - 1;
      corner(i) = x(i, 0) > 0.3F ? 1 : x(i, 1) > 0 ? 2 : 0;
    }
  }
  [[nodiscard]] auto source(bool shuffles = true) const {
    return tensor_batches(x, corner, {.batch = 16, .shuffles = shuffles, .seed = 1});
  }
};
using side_by_side = parallel<linear<2, 2>, linear<2, 1>>;
using X = tensor<float, shape<at_most(8), 2>>;

struct sign_descent {
  double rate = 1e-3;
  template <class P> struct moments {
    P average;
    std::uint64_t steps;
    TESSERA_PARAMETERS(average, steps)
  };
  template <class P> void update(P& p, P const& gradient, moments<P>& m) const {
    ++m.steps;
    for_numbers(
        [&](auto w, auto g, auto a) {
          using T = scalar_of<decltype(w)>;
          assign(a, a * T{0.75} + g * T{0.25});
          w -= where(a > T{0}, T{1}, where(a < T{0}, T{-1}, T{0})) * static_cast<T>(rate);
        },
        p, gradient, m.average);
  }
};

template <class Optimizer> using classified = training<side_by_side, X, Optimizer, 2>;
template <class Optimizer>
using average_of = averaging<typename classified<Optimizer>::parameters_type>;
template <class Optimizer>
using classifier = trainer<classified<Optimizer>, cross_entropy, constant_rate, norm_clipping,
                           average_of<Optimizer>>;

template <class Optimizer> [[nodiscard]] auto make(trainer_options options, Optimizer optimizer) {
  auto t = std::make_unique<classifier<Optimizer>>(std::move(options), optimizer, constant_rate{},
                                                   cross_entropy{}, norm_clipping{.most = 2},
                                                   average_of<Optimizer>({.decay = 0.9}));
  auto g = torch_generator(1);
  side_by_side::initialize(t->parameters(), g);
  return t;
}
template <class Optimizer> void learns_and_resumes(Optimizer const& optimizer) {
  auto const data = points{};
  auto monitor = data.source(false);
  auto const options = [](std::filesystem::path const& folder) {
    return trainer_options{
        .max_epochs = 6, .folder = folder, .checkpoint_seconds = 0, .monitor = "accuracy"};
  };
  auto const whole = test::folder{};
  auto const want = make(options(whole.path()), optimizer);
  auto const before = want->evaluate(want->parameters(), monitor);
  auto source = data.source();
  CHECK(want->fit(source, monitor, accuracy{}) == ending::finished);
  CHECK(want->evaluate(want->parameters(), monitor) < 0.9 * before);

  auto const folder = test::folder{};
  auto how = ending::interrupted;
  for (auto runs = 0U; how == ending::interrupted; ++runs) {
    auto o = options(folder.path());
    o.stop_after_batches = 3 + 4 * runs;
    auto const t = make(o, optimizer);
    if (runs > 0) t->resume();
    auto again = data.source();
    how = t->fit(again, monitor, accuracy{});
    REQUIRE(runs < 20);
  }
  CHECK(test::text_of(folder / "checkpoint.safetensors") == test::text_of(want->checkpoint_file()));

  auto const calls = test::folder{};  // or by several calls of one trainer
  auto o = options(calls.path());
  o.stop_after_batches = 5;
  auto const one = make(o, optimizer);
  auto again = data.source();
  auto runs = 0U;
  while (one->fit(again, monitor, accuracy{}) == ending::interrupted) REQUIRE(++runs < 20);
  CHECK(runs > 1);
  CHECK(test::text_of(calls / "checkpoint.safetensors") == test::text_of(want->checkpoint_file()));
}

}  // namespace

TEST_CASE("trainer: classes, a model whose top is no sequence, and any optimizer") {
  learns_and_resumes(gradient_descent{.rate = 0.3});
  learns_and_resumes(sign_descent{.rate = 0.02});
}
TEST_CASE("trainer: scores are reported and logged, and one of them decides") {
  auto const data = points{};
  auto source = data.source();
  auto monitor = data.source(false);
  auto const folder = test::folder{};
  auto const made = folder / "of" / "runs";
  auto const t = make<gradient_descent>({.max_epochs = 3, .folder = made, .monitor = "accuracy"},
                                        {.rate = 0.3});
  auto best = 0.0;
  t->on_epoch = [&](epoch_report const& r) {
    REQUIRE(r.scores.size() == 1);
    CHECK(r.scores[0].name == "accuracy");
    CHECK(r.best == (r.scores[0].value > best));
    best = std::max(best, r.scores[0].value);
    CHECK(t->validate(t->parameters(), monitor, accuracy{})[1].value == r.scores[0].value);
    CHECK(t->evaluate(t->parameters(), monitor) == r.monitored_loss);
  };
  t->fit(source, monitor, accuracy{});
  CHECK(best > 0.5);
  CHECK(t->progress().best == -best);
  auto const log = test::text_of(made / "log.csv");
  CHECK(log.starts_with(
      "epoch,rate,training_loss,monitored_loss,largest_gradient_norm,accuracy,seconds\n1,0.3,"));
  CHECK(test::text_of(made / "log.jsonl").find("\"accuracy\":") != std::string::npos);
  CHECK_THROWS_WITH(t->fit(source, monitor), "trainer: expected a monitor of loss, got accuracy");
}
TEST_CASE("trainer: it resumes nothing whose steps would be others") {
  auto const data = points{};
  auto source = data.source();
  auto monitor = data.source(false);
  auto const folder = test::folder{};
  auto const options = trainer_options{.max_epochs = 2, .folder = folder.path()};
  make<gradient_descent>(options, {.rate = 0.3})->fit(source, monitor);
  auto const refuses = [](auto&& t, char const* words) {
    CHECK_THROWS_WITH(t->resume(), Catch::Contains(words));
  };
  refuses(make<gradient_descent>(options, {.rate = 0.1}),
          "optimizer \"gradient_descent(0.3)\", expected \"gradient_descent(0.1)\"");
  refuses(make<sign_descent>(options, {.rate = 0.3}), "expected \"sign_descent(0.3)\"");
  auto clipped = options;
  clipped.gradient_clip_val = 1;
  refuses(make<gradient_descent>(clipped, {.rate = 0.3}),
          "gradient_clip_val \"0\", expected \"1\"");
  using smoothed = classifier<gradient_descent>;
  refuses(
      std::make_unique<smoothed>(options, gradient_descent{.rate = 0.3}, constant_rate{},
                                 cross_entropy{.label_smoothing = 0.1}, norm_clipping{.most = 2},
                                 average_of<gradient_descent>({.decay = 0.9})),
      "loss \"cross_entropy(-100, 0)\", expected \"cross_entropy(-100, 0.1)\"");
  auto const other = make<gradient_descent>(options, {.rate = 0.3});
  other->resume();
  auto larger = tensor_batches(data.x, data.corner, {.batch = 8});
  CHECK_THROWS_WITH(other->fit(larger, monitor),
                    Catch::Contains("the checkpoint is of another training"));
}

namespace {
/// As if another process had the same batch.
struct twice {
  [[nodiscard]] static auto terms(std::size_t n) -> std::size_t { return 2 * n; }
  static void exchange(auto& gradient, double& loss) {
    for_numbers([](auto g) { g += g; }, gradient);
    loss += loss;
  }
};
using plain_trainer = trainer<classified<adam>, cross_entropy>;
}  // namespace

TEST_CASE("trainer: gradients of several processes are those of one with all the data") {
  auto const data = points{};
  auto source = data.source();
  auto one = plain_trainer({.max_epochs = 2}, adam{.rate = 0.1}, {}, {});
  auto two = trainer<classified<adam>, cross_entropy, constant_rate, twice>(
      {.max_epochs = 2}, adam{.rate = 0.1}, {}, {}, {});
  auto reports = std::vector<step_report>{};
  one.on_step = [&](step_report const& r) { reports.push_back(r); };
  auto steps = std::size_t{0};
  two.on_step = [&](step_report const& r) {
    REQUIRE(steps < reports.size());
    CHECK(r.loss == reports[steps].loss);
    CHECK(r.gradient_norm == reports[steps].gradient_norm);
    CHECK(r.step == ++steps);
  };
  test::fill_parameters(one.parameters(), 1);
  two.parameters() = one.parameters();
  CHECK(one.fit(source) == ending::finished);
  CHECK(two.fit(source) == ending::finished);
  CHECK(steps == 2 * source.size());
  CHECK(test::same_parameters(one.parameters(), two.parameters()));
}
namespace {
template <class Input, std::size_t Chunks = 2, class Schedule = constant_rate>
[[nodiscard]] auto make_for(trainer_options const& options, Schedule schedule = {},
                            double most = 2) {
  using learner = training<side_by_side, Input, gradient_descent, Chunks>;
  return std::make_unique<trainer<learner, cross_entropy, Schedule, norm_clipping>>(
      options, gradient_descent{.rate = 0.3}, schedule, cross_entropy{},
      norm_clipping{.most = most});
}
}  // namespace

TEST_CASE("trainer: it resumes nothing of another input, schedule, part or callback") {
  auto const data = points{};
  auto source = data.source();
  auto const folder = test::folder{};
  auto const options = trainer_options{.max_epochs = 1, .folder = folder.path()};
  make_for<X>(options)->fit(source);
  make_for<X>(options)->resume();
  auto const refuses = [](auto&& t, char const* words) {
    CHECK_THROWS_WITH(t->resume(), Catch::Contains(words));
  };
  refuses(make_for<tensor<float, shape<at_most(9), 2>>>(options),
          "input \"F32(<=8, 2)\", expected \"F32(<=9, 2)\"");
  refuses(make_for<X, 3>(options), "chunks \"2\", expected \"3\"");
  refuses(make_for<X>(options, step_lr{.every = 2}),
          "schedule \"constant_rate()\", expected \"step_lr(2, 0.1)\"");
  refuses(make_for<X>(options, constant_rate{}, 3),
          "parts \"norm_clipping(2) \", expected \"norm_clipping(3) \"");
  auto const watched = make_for<X>(options);
  watched->callbacks = {std::make_shared<early_stopping>()};
  refuses(watched, "callbacks \"\", expected \"early_stopping(");
}

namespace {
/// Notes what it is asked, and takes the gradient away.
struct noting {
  using P = classified<adam>::parameters_type;

  std::shared_ptr<P> first = std::make_shared<P>();
  std::shared_ptr<std::string> calls = std::make_shared<std::string>();
  std::shared_ptr<double> norm = std::make_shared<double>();

  [[nodiscard]] static auto settings() -> bool { return true; }
  void begin(P const& p) const {
    *calls += "begin";
    *first = p;
  }
  [[nodiscard]] auto terms(std::size_t n) const -> std::size_t {
    *calls += " terms";
    return n;
  }
  void exchange(P&, double&) const { *calls += " exchange"; }
  void adjust(P& gradient, double& before) const {
    *calls += " adjust";
    *norm = before;
    for_numbers([](auto g) { g -= g; }, gradient);
  }
  void updated(P const&, std::uint64_t step) const { *calls += " updated" + std::to_string(step); }
};
}  // namespace

TEST_CASE("trainer: a gradient is not shown after an evaluation has taken its memory") {
  auto const data = points{};
  auto source = data.source();
  auto monitor = data.source();
  auto t = plain_trainer({.max_epochs = 1}, adam{.rate = 0.1}, {}, {});
  test::fill_parameters(t.parameters(), 1);
  auto shown = 0;
  t.on_step = [&](step_report const& r) {
    auto const count = [&](auto const&...) { ++shown; };
    r.for_each(count);
    (void)t.evaluate(t.parameters(), monitor);
    CHECK_THROWS_WITH(r.for_each(count), Catch::Contains("after an evaluation"));
  };
  t.fit(source);
  CHECK(shown > 0);
}
TEST_CASE("trainer: the parts of a step are asked at their places, in their order") {
  auto const data = points{};
  auto source = data.source();
  auto const folder = test::folder{};
  auto const make_noting = [&](std::uint64_t epochs, noting const& part) {
    using type = trainer<classified<adam>, cross_entropy, constant_rate, norm_clipping, noting>;
    return std::make_unique<type>(
        trainer_options{
            .max_epochs = epochs, .accumulate_grad_batches = 2, .folder = folder.path()},
        adam{}, constant_rate{}, cross_entropy{}, norm_clipping{1e-3}, part);
  };
  auto const part = noting{};
  auto const t = make_noting(1, part);
  test::fill_parameters(t->parameters(), 1);
  auto const before = t->parameters();
  t->fit(source);
  CHECK(*part.calls ==
        "begin terms terms exchange adjust updated0 terms terms exchange adjust updated1");
  CHECK(test::same_parameters(*part.first, before));
  CHECK(*part.norm == Approx(1e-3));  // clipped by the part before
  CHECK(test::same_parameters(t->parameters(), before));
  auto const later = noting{};
  auto const resumed = make_noting(2, later);
  resumed->resume();
  resumed->fit(source);
  CHECK(*later.calls ==
        " terms terms exchange adjust updated2 terms terms exchange adjust updated3");
}
TEST_CASE("trainer: a validation in the middle of an epoch changes no bit") {
  auto const data = points{};
  auto source = data.source();
  auto monitor = data.source(false);
  auto a = plain_trainer({.max_epochs = 2}, adam{.rate = 0.1}, {}, {});
  auto b = plain_trainer({.max_epochs = 2}, adam{.rate = 0.1}, {}, {});
  test::fill_parameters(a.parameters(), 1);
  b.parameters() = a.parameters();
  b.on_batch = [&](std::uint64_t, std::uint64_t) { (void)b.evaluate(b.parameters(), monitor); };
  a.fit(source);
  b.fit(source);
  CHECK(test::same_parameters(a.parameters(), b.parameters()));
}
namespace {
/// A source that another one is.
template <class Source> struct handle {
  static constexpr bool carries = false;
  Source* source;
  [[nodiscard]] auto size() const { return source->size(); }
  void begin(std::uint64_t epoch) { source->begin(epoch); }
  template <class Slot>
  void load(std::size_t batch, std::size_t chunk, std::size_t chunks, Slot& to) const {
    source->load(batch, chunk, chunks, to);
  }
};
struct at_epoch_start : callback {
  std::function<void()> f;
  void on_train_epoch_start(fit_control&, std::uint64_t) override { f(); }
};
}  // namespace

TEST_CASE("trainer: nor does one of the training's own source, by whatever name") {
  auto const data = points{};
  auto const accumulated = GENERATE(std::uint64_t{1}, 2);
  auto const evaluated_in = GENERATE(0, 1, 2);
  auto source = data.source();
  auto monitor = handle<decltype(source)>{&source};
  auto const options = trainer_options{.max_epochs = 3, .accumulate_grad_batches = accumulated};
  auto a = plain_trainer(options, adam{.rate = 0.1}, {}, {});
  auto b = plain_trainer(options, adam{.rate = 0.1}, {}, {});
  test::fill_parameters(a.parameters(), 1);
  b.parameters() = a.parameters();
  auto const evaluate = [&] { (void)b.evaluate(b.parameters(), monitor); };
  if (evaluated_in == 0) b.on_batch = [&](std::uint64_t, std::uint64_t) { evaluate(); };
  if (evaluated_in == 1) b.on_step = [&](step_report const&) { evaluate(); };
  auto const first = std::make_shared<at_epoch_start>();
  first->f = evaluate;
  if (evaluated_in == 2) b.callbacks = {first};
  a.fit(source);
  b.fit(source);
  CHECK(test::same_parameters(a.parameters(), b.parameters()));
}
TEST_CASE("trainer: a conditioned model, and rates by steps") {
  using conditioned_model =
      conditioned<linear<2, 2>, sequential<linear<2, 4>, condition_bias<2, 4>, linear<4, 1>>>;
  using C = tensor<float, shape<at_most(8), 2>>;
  auto const data = points{};
  auto want = xt::xtensor<float, 2>(std::array<std::size_t, 2>{50, 1});
  for (auto i = std::size_t{0}; i < 50; ++i) want(i, 0) = data.x(i, 0) - data.x(49 - i, 1);
  auto source = tensor_batches(data.x, want, conditions_of<C>(xt::xtensor<float, 2>(data.x)),
                               {.batch = 8, .seed = 2});
  using trained = training<conditioned_model, X, adam, 1, given_as<tag::condition, C>>;
  auto const run = std::make_unique<trainer<trained, l1, by_step<step_lr>>>(
      trainer_options{.max_epochs = 5}, adam{.rate = 0.5},
      by_step<step_lr>{{.every = 7, .gamma = 0.5}}, l1{});
  test::fill_parameters(run->parameters(), 1);
  auto const before = run->evaluate(run->parameters(), source);
  run->on_step = [&](step_report const& r) {
    CHECK(r.rate == step_lr{.every = 7, .gamma = 0.5}.rate(0.5, r.step - 1));
  };
  run->fit(source);
  CHECK(run->evaluate(run->parameters(), source) < before);
  auto const alone =
      std::make_unique<inference<conditioned_model, X, given_as<tag::condition, C>>>();
  run->predict(run->parameters(), source, [&](auto x, auto y, auto, std::size_t) {
    clear(alone->state);
    auto condition = std::make_unique<C>();
    std::copy_n(x.data(), x.size(), condition->data());
    CHECK(test::same_bits(
        alone->resume(run->parameters(), x, given(condition->sized(x.template extent_of<0>()))),
        y));
  });
}
