// SPDX-License-Identifier: MIT
// An LSTM (4 -> 16) learns on the device: sequences of 16 samples, all of backpropagation, SGD
// whose update is fused into the backward pass.
#include <tessera/embedded.hpp>

#include "board/board.hpp"

using namespace tessera;

using model = sequential<lstm<4, 16>, linear<16, 1>>;
using X = tensor<float, shape<16, 1, 4>>;
using Y = tensor<float, shape<16, 1, 1>>;
using object = training<model, X, fused_gradient_descent>;

constexpr auto needed = memory_of<model, X, call_mode::training, fused_gradient_descent>;
static_assert(sizeof(object) == needed.total, "what is used is what is said");
object learner;

static X x;
static Y target;

auto main() -> int {
  auto generator = torch_generator(1);
  model::initialize(learner.parameters, generator);
  auto draws = torch_generator(2);
  auto const optimizer = fused_gradient_descent{.rate = 0.1};
  auto ticks = std::uint32_t{0};
  float losses[20];
  for (auto step = 0; step < 600; ++step) {
    // The product of the first two inputs of the sample before.
    for (auto t = std::size_t{0}; t < 16; ++t) {
      for (auto i = std::size_t{0}; i < 4; ++i) x(t, 0, i) = 2 * draws.rand<float>() - 1;
      target(t, 0, 0) = t == 0 ? 0 : x(t - 1, 0, 0) * x(t - 1, 0, 1);
    }
    learner.restart();
    auto loss = 0.0F;
    ticks = board::ticks_of([&] { loss = learner.step(x, target, mse{}, optimizer); });
    if (step % 30 == 0) losses[step / 30] = loss;
  }
  board::print("losses", losses, 20);
  board::print("ticks", ticks);
  board::print("memory", needed.total);
  return 0;
}
