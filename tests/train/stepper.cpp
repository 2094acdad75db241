// SPDX-License-Identifier: MIT
#include <support/allocations.hpp>
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
