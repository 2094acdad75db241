// SPDX-License-Identifier: MIT
#include <support/allocations.hpp>
#include <tessera/data/batches.hpp>
#include <tessera/layers/batch_norm.hpp>
#include <tessera/layers/lstm.hpp>
#include <tessera/train/stepper.hpp>

#include "small.hpp"

using namespace tessera;

namespace {
/// The parameters after a training of two epochs, each batch of so many of 38 examples.
[[nodiscard]] auto trained(std::size_t batch, std::uint64_t accumulated) {
  auto const data = small::points(38);
  auto source = data.source(false, batch);
  auto const t = small::make({.max_epochs = 2, .accumulate_grad_batches = accumulated},
                             gradient_descent{.rate = 0.5});
  auto losses = std::vector<double>{};
  t->on_step = [&](step_report const& r) { losses.push_back(r.loss); };
  t->fit(source);
  return std::pair{t->parameters(), losses};
}
void agree(std::size_t batch, std::uint64_t accumulated, std::size_t as_one) {
  auto const [p, losses] = trained(batch, accumulated);
  auto const [want, want_losses] = trained(as_one, 1);
  REQUIRE(losses.size() == want_losses.size());
  for (auto i = std::size_t{0}; i < losses.size(); ++i)
    CHECK(losses[i] == Approx(want_losses[i]).epsilon(1e-4));
  for_each_parameter(
      [](path_name const&, auto const& a, auto const& b) {
        for (auto i = std::size_t{0}; i < a.size(); ++i)
          CHECK(a.data()[i] == Approx(b.data()[i]).margin(1e-5));
      },
      p, want);
}
}  // namespace

TEST_CASE("stepper: accumulated batches are one batch of them all, also where they are unlike") {
  agree(8, 2, 16);  // 16, 16, 6
  agree(8, 5, 40);  // 38, of batches of 8 and 6
  agree(3, 4, 12);  // 12, 12, 12, 2
}
TEST_CASE("stepper: a batch allocates nothing, accumulated and rounded") {
  auto const data = small::points{};
  auto source = data.source();
  auto const t = small::make({.max_epochs = 1, .accumulate_grad_batches = 2, .precision = "bf16"});
  t->callbacks = {std::make_shared<callback>()};
  auto counts = std::vector<decltype(test::allocations())>{};
  counts.reserve(10);
  t->on_batch = [&](std::uint64_t, std::uint64_t) { counts.push_back(test::allocations()); };
  t->fit(source);
  REQUIRE(counts.size() == 5);
  for (auto const count : counts) CHECK(count == counts[0]);
}
TEST_CASE("stepper: a batch that is no number is named, though others follow it in its step") {
  auto data = small::points{};
  data.x(9, 0) = NAN;
  auto source = data.source(false);
  auto const t = small::make({.max_epochs = 1, .accumulate_grad_batches = 4});
  CHECK_THROWS_WITH(t->fit(source), Catch::Contains("epoch 1, batch 2") &&
                                        Catch::Contains("the input of the model is not finite"));
}
TEST_CASE("stepper: batches of a step that an exception ended are not in the next one") {
  auto const data = small::points{};
  auto source = data.source(false);
  auto const options = trainer_options{.max_epochs = 1, .accumulate_grad_batches = 4};
  auto const want = small::make(options);
  want->fit(source);
  auto const t = small::make(options);
  t->on_batch = [](std::uint64_t batch, std::uint64_t) {
    if (batch == 3) throw std::runtime_error("no more");
  };
  CHECK_THROWS_WITH(t->fit(source), "no more");
  CHECK(t->progress().batch == 0);
  CHECK(t->progress().step == 0);
  t->on_batch = {};
  t->fit(source);
  CHECK(test::same_parameters(t->parameters(), want->parameters()));
}
namespace {
/// Throws in its function of the call with a number.
struct failing {
  int exchange_fails = -1;
  int update_fails = -1;
  std::shared_ptr<std::array<int, 2>> calls = std::make_shared<std::array<int, 2>>();

  [[nodiscard]] static auto settings() -> bool { return true; }
  void exchange(auto&, double&) const { count((*calls)[0], exchange_fails); }
  void updated(auto const&, std::uint64_t) const { count((*calls)[1], update_fails); }

 private:
  static void count(int& calls_of_one, int fails) {
    if (calls_of_one++ == fails) throw std::runtime_error("a part failed");
  }
};
using norm_and_lstm = sequential<batch_norm<2>, linear<2, 4>, lstm<4, 3>, linear<3, 1>>;
using sequences = tensor<float, shape<at_most(4), at_most(8), 2>>;

template <class... Parts>
[[nodiscard]] auto make_recurrent(std::uint64_t accumulated, Parts... parts) {
  using trainer_type =
      trainer<training<norm_and_lstm, sequences, adam>, mse, constant_rate, Parts...>;
  auto t = std::make_unique<trainer_type>(
      trainer_options{.max_epochs = 2, .accumulate_grad_batches = accumulated}, adam{.rate = 0.1},
      constant_rate{}, mse{}, parts...);
  auto g = torch_generator(1);
  norm_and_lstm::initialize(t->parameters(), t->statistics(), g);
  return t;
}
[[nodiscard]] auto random_lanes() {
  auto data = recordings(2);
  auto g = torch_generator(3);
  for (auto& r : data) {
    r.inputs = xt::xtensor<float, 2>(std::array<std::size_t, 2>{16, 2});
    r.targets = xt::xtensor<float, 2>(std::array<std::size_t, 2>{16, 1});
    for (auto& number : r.inputs) number = g.rand<float>();
    for (auto& number : r.targets) number = g.rand<float>();
  }
  return lane_batches(std::make_shared<recordings const>(data), 4);
}
}  // namespace

TEST_CASE("stepper: nor are what they observed, and the states that they left") {
  auto source = random_lanes();
  REQUIRE(source.size() == 4);
  auto const want = make_recurrent(2);
  want->fit(source);
  auto const t = make_recurrent(2);
  t->on_batch = [](std::uint64_t batch, std::uint64_t) {
    if (batch == 3) throw std::runtime_error("no more");
  };
  CHECK_THROWS_WITH(t->fit(source), "no more");
  t->on_batch = {};
  t->fit(source);
  CHECK(test::same_parameters(t->parameters(), want->parameters()));
  CHECK(test::same_parameters(t->statistics(), want->statistics()));
}
TEST_CASE("stepper: a step that a part ends is done again, and one after its update is not") {
  auto source = random_lanes();
  for (auto const accumulated : {1U, 2U, 3U}) {
    auto const want = make_recurrent(accumulated);
    want->fit(source);
    for (auto const& part : {failing{.exchange_fails = 1}, failing{.update_fails = 1}}) {
      auto const t = make_recurrent(accumulated, part);
      CHECK_THROWS_WITH(t->fit(source), "a part failed");
      CHECK(t->progress().updates == (part.update_fails == 1 ? 2 : 1));
      t->fit(source);
      CHECK(test::same_parameters(t->parameters(), want->parameters()));
      CHECK(test::same_parameters(t->statistics(), want->statistics()));
    }
  }
}
TEST_CASE("stepper: statistics are taken up, kept with the best parameters, and resumed") {
  using model = sequential<linear<2, 4>, batch_norm<4>, tanh_layer, linear<4, 1>>;
  using trainer_type = trainer<training<model, small::X, adam, 2>, mse>;
  auto const made = [](trainer_options const& o) {
    auto t = std::make_unique<trainer_type>(o, adam{.rate = 0.3}, constant_rate{}, mse{});
    auto g = torch_generator(1);
    model::initialize(t->parameters(), t->statistics(), g);
    return t;
  };
  auto const data = small::points{};
  auto source = data.source();
  auto monitor = data.source(false);
  for (auto const together : {1U, 2U}) {
    auto const folder = test::folder{};
    auto o = trainer_options{
        .max_epochs = 6, .accumulate_grad_batches = together, .folder = folder / "whole"};
    auto const whole = made(o);
    CHECK(whole->fit(source, monitor) == ending::finished);
    CHECK(get<1>(whole->statistics()).num_batches_tracked() == 30);
    CHECK(whole->evaluate(whole->best(), monitor) == whole->progress().best);
    CHECK(whole->evaluate(whole->parameters(), monitor) != whole->progress().best);
    o.folder = folder / "parts";
    o.stop_after_batches = 7;
    CHECK(made(o)->fit(source, monitor) == ending::interrupted);
    o.stop_after_batches = 0;
    auto const rest = made(o);
    rest->resume();
    CHECK(rest->fit(source, monitor) == ending::finished);
    CHECK(test::text_of(rest->checkpoint_file()) == test::text_of(whole->checkpoint_file()));
  }
}
TEST_CASE("stepper: what an epoch tells is of all its steps") {
  auto const data = small::points(38);
  auto source = data.source(false);
  auto const t = small::make({.max_epochs = 1, .accumulate_grad_batches = 2});
  auto losses = 0.0;
  auto largest = 0.0;
  t->on_step = [&](step_report const& r) {
    losses += r.loss * (r.step == 3 ? 1 : 2);  // five batches
    largest = std::max(largest, r.gradient_norm);
  };
  t->on_epoch = [&](epoch_report const& r) {
    CHECK(r.training_loss == Approx(losses / 5));
    CHECK(r.largest_gradient_norm == largest);
  };
  t->fit(source);
  CHECK(largest > 0);
}
