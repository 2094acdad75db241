// SPDX-License-Identifier: MIT
#include <support/folder.hpp>
#include <support/test.hpp>
#include <tessera/cuda.hpp>
#include <tessera/data/batches.hpp>
#include <tessera/layers/batch_norm.hpp>
#include <tessera/layers/dropout.hpp>
#include <tessera/train/early_stopping.hpp>
#include <tessera/train/trainer.hpp>

using namespace tessera;

// A trainer whose step runs on a device, here the fake one, beside the same one on the host.
namespace {

static_assert(device::is_fake);

struct recurrent
    : sequential<batch_norm<2>, lstm<2, 8, lstm_options{.layers = 2, .dropout = at_run_time}>,
                 linear<8, 1>> {};
constexpr auto chunks = std::size_t{2};
template <class Backend> using input = tensor<float, shape<at_most(6), at_most(4), 2>, Backend>;
template <class Backend> using learner = training<recurrent, input<Backend>, adam, chunks>;
template <class Backend> using average = averaging<typename learner<Backend>::parameters_type>;
[[nodiscard]] auto sum_in(auto const& p) -> double {
  auto sum = 0.0;
  for_each_parameter(
      [&](path_name const&, auto const& w) {
        for (auto i = std::size_t{0}; i < w.size(); ++i)
          sum += static_cast<double>(std::abs(w.data()[i]));
      },
      p);
  return sum;
}
/// Reads by the host all that a part is given, as what exchanges it with other processes does.
struct reader {
  std::vector<double> sums;
  void begin(auto const& parameters) { sums.push_back(sum_in(parameters)); }
  void exchange(auto const& gradient, double const&) { sums.push_back(sum_in(gradient)); }
  void adjust(auto const& gradient, double const&) { sums.push_back(sum_in(gradient)); }
  void updated(auto const& parameters, std::uint64_t) { sums.push_back(sum_in(parameters)); }
  [[nodiscard]] auto settings() const -> bool { return true; }
};
template <class Backend>
using trainer_on = trainer<learner<Backend>, mse, by_step<cosine_lr>, average<Backend>, reader>;

/// A sum that decays, of two waves: three recordings.
[[nodiscard]] auto waves() -> std::shared_ptr<recordings const> {
  auto result = recordings{};
  for (auto const rate : {0.7F, 0.3F, 0.45F}) {
    auto one = recording{xt::xtensor<float, 2>({28UL, 2UL}), xt::xtensor<float, 2>({28UL, 1UL})};
    auto held = 0.0F;
    for (auto t = std::size_t{0}; t < 28; ++t) {
      for (auto i = std::size_t{0}; i < 2; ++i)
        one.inputs(t, i) = std::sin(static_cast<float>((1 + i) * t) * rate);
      held = 0.5F * held + one.inputs(t, 0) * one.inputs(t, 1);
      one.targets(t, 0) = held;
    }
    result.push_back(one);
  }
  return std::make_shared<recordings const>(result);
}
[[nodiscard]] auto batches_of(std::shared_ptr<recordings const> const& data, bool in_order) {
  return window_batches(data, windows(as_parts(*data), 6), 8, in_order, 3);
}
[[nodiscard]] auto sequence_of(std::shared_ptr<recordings const> const& data, bool) {
  return lane_batches(data, 5);
}

/// The device runs nothing before it is waited for: a host that does not wait reads old numbers.
struct as_late_as_may_be {
  as_late_as_may_be() { device::current().delay(true); }
  as_late_as_may_be(as_late_as_may_be const&) = delete;
  auto operator=(as_late_as_may_be const&) -> as_late_as_may_be& = delete;
  ~as_late_as_may_be() { device::current().delay(false); }
};

/// What a training told, and where it ended.
struct course {
  std::vector<double> losses, read, norms, observed, monitored;
  std::vector<float> last, best, average, answers;
  ending how = ending::finished;
};
[[nodiscard]] auto numbers_in(auto const& p) -> std::vector<float> {
  auto result = std::vector<float>{};
  for_each_parameter(
      [&](path_name const&, auto const& w) {
        result.insert(result.end(), w.data(), w.data() + w.size());
      },
      p);
  return result;
}
template <class Backend>
[[nodiscard]] auto trained(trainer_options const& options, auto const& source_of,
                           std::string const& resume = "") -> course {
  auto const data = waves();
  auto t = std::make_unique<trainer_on<Backend>>(options, adam{.rate = 0.01},
                                                 by_step<cosine_lr>{{.period = 40}}, mse{},
                                                 average<Backend>({.decay = 0.9}), reader{});
  auto result = course{};
  auto const scope = as_late_as_may_be{};
  auto generator = torch_generator(1);
  recurrent::initialize(t->parameters(), t->statistics(), generator);
  t->on_batch = [&](std::uint64_t, std::uint64_t) {
    result.observed.push_back(sum_in(t->statistics()));
  };
  t->on_step = [&](step_report const& r) {
    result.losses.push_back(r.loss);
    result.norms.push_back(r.gradient_norm);
  };
  t->on_epoch = [&](epoch_report const& r) { result.monitored.push_back(r.monitored_loss); };
  if (not resume.empty()) t->resume(resume);
  auto source = source_of(data, false);
  auto monitor = source_of(data, true);
  result.how = t->fit(source, monitor, mean_absolute_error{});
  result.read = t->template part<reader>().sums;
  result.last = numbers_in(t->parameters());
  result.best = numbers_in(t->best());
  result.average = numbers_in(t->template part<average<Backend>>().average());
  t->predict(t->best(), monitor, [&](auto, auto y, auto, std::size_t) {
    result.answers.insert(result.answers.end(), y.data(), y.data() + y.size());
  });
  return result;
}
void agree(auto const& a, auto const& b, double bound) {
  REQUIRE(a.size() == b.size());
  REQUIRE_FALSE(a.empty());
  for (auto i = std::size_t{0}; i < a.size(); ++i)
    CHECK(std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])) <=
          bound * std::max(1e-3, std::abs(static_cast<double>(b[i]))));
}
void agree(course const& a, course const& b) {
  agree(a.losses, b.losses, 1e-6);
  agree(a.monitored, b.monitored, 1e-6);
  agree(a.read, b.read, 1e-5);
  agree(a.norms, b.norms, 1e-5);
  agree(a.observed, b.observed, 1e-5);
  agree(a.last, b.last, 1e-4);
  agree(a.best, b.best, 1e-4);
  agree(a.average, b.average, 1e-4);
  agree(a.answers, b.answers, 1e-4);
}
[[nodiscard]] auto same_bits(course const& a, course const& b) -> bool {
  return a.last == b.last && a.best == b.best && a.average == b.average && a.answers == b.answers;
}
/// Dropout, accumulated batches, clipping, validations within an epoch.
[[nodiscard]] auto options() -> trainer_options {
  return {.max_epochs = 3,
          .seed = 5,
          .dropout = 0.2F,
          .gradient_clip_val = 0.3,
          .accumulate_grad_batches = 2,
          .val_check_interval = 2,
          .threads = 2};
}

}  // namespace

TEST_CASE("trainer on a device: the losses of the host within rounding") {
  agree(trained<cuda>(options(), batches_of), trained<reference>(options(), batches_of));
}
TEST_CASE(
    "trainer on a device: a state that is carried, values that are clipped, rounded weights") {
  auto o = options();
  o.gradient_clip_algorithm = "value";
  o.gradient_clip_val = 0.1;
  o.precision = "bf16";
  o.accumulate_grad_batches = 1;
  agree(trained<cuda>(o, sequence_of), trained<reference>(o, sequence_of));
}
TEST_CASE("trainer on a device: resumed from a checkpoint it ends with the same bits") {
  auto const check = [](trainer_options o, auto const& source_of) {
    auto const whole = trained<cuda>(o, source_of);
    auto const folder = test::folder{};
    o.folder = folder.path();
    o.stop_after_batches = 7;
    CHECK(trained<cuda>(o, source_of).how == ending::interrupted);
    o.stop_after_batches = 0;
    CHECK(same_bits(trained<cuda>(o, source_of, "last"), whole));
  };
  check(options(), batches_of);
  check(options(), sequence_of);
}
TEST_CASE("trainer on a device: a checkpoint of the host goes on there, within rounding") {
  auto const folder = test::folder{};
  auto o = options();
  auto const whole = trained<reference>(o, batches_of);
  o.folder = folder.path();
  o.stop_after_batches = 7;
  CHECK(trained<reference>(o, batches_of).how == ending::interrupted);
  o.stop_after_batches = 0;
  auto const rest = trained<cuda>(o, batches_of, "last");
  agree(rest.last, whole.last, 1e-4);
  agree(rest.average, whole.average, 1e-4);
}
TEST_CASE("trainer on a device: a batch that is no number is named as on the host") {
  auto const spoilt = [](auto const& data, bool in_order) {
    auto changed = std::make_shared<recordings>(*data);
    changed->front().inputs(9, 0) = NAN;
    return batches_of(changed, in_order);
  };
  auto o = options();
  o.num_sanity_val_steps = 0;
  CHECK_THROWS_WITH(
      trained<cuda>(o, spoilt),
      Catch::Contains("epoch 1, batch") && Catch::Contains("the input of the model is not finite"));
}
