// SPDX-License-Identifier: MIT
// A model is a type: here an LSTM learns to say how fast the sine that it hears is.
#include <tessera/tessera.hpp>

#include <cmath>
#include <cstdio>
#include <memory>

using namespace tessera;

using model = sequential<lstm<1, 16>, linear<16, 1>>;
using heard = tensor<float, shape<40, 8, 1>>;  // 40 steps of 8 sines at once
static_assert(parameter_count<model> == 1233);
static_assert(memory_of<model, tensor<float, shape<1, 1>>, call_mode::streaming>.object < 1024);

auto main() -> int {
  auto x = heard{};
  auto wanted = heard{};
  for (auto lane = std::size_t{0}; lane < 8; ++lane)
    for (auto t = std::size_t{0}; t < 40; ++t) {
      auto const rate = 0.1F + 0.1F * static_cast<float>(lane);
      x(t, lane, 0) = std::sin(rate * static_cast<float>(t));
      wanted(t, lane, 0) = rate;
    }

  auto const trainer =
      std::make_unique<training<model, heard, adam>>();  // one allocation, the last
  auto generator = torch_generator(1);
  model::initialize(trainer->parameters, generator);
  for (auto step = 1; step <= 500; ++step) {
    trainer->restart();
    auto const loss = trainer->step(x, wanted, mse{}, adam{.rate = 0.01});
    if (step == 1 || step % 100 == 0) std::printf("step %3d  loss %.5f\n", step, loss);
  }

  // The same type, sample by sample, as an audio thread or a microcontroller would run it.
  auto stream = streaming<model, tensor<float, shape<1, 1>>>{};
  auto rate = 0.0F;
  for (auto t = 0; t < 40; ++t) {
    auto const sample = tensor<float, shape<1, 1>>{{std::sin(0.35F * static_cast<float>(t))}};
    rate = stream.step(trainer->parameters, sample).data()[0];
  }
  std::printf("a sine of rate 0.35 sounds like %.2f\n", rate);
}
