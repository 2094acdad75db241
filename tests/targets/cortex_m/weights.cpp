// SPDX-License-Identifier: MIT
// weights <header>: on the host, trains the frequency filter for two epochs and writes its weights.
#include <tessera/io/header.hpp>
#include <tessera/optim/training.hpp>
#include <tessera/tessera.hpp>

#include <cstdio>
#include <memory>

#include "../../../examples/frequency/signal.hpp"

using namespace tessera;

using model = sequential<lstm<5, 64>, linear<64, 1>>;
using X = tensor<float, shape<100, 4, 5>>;
using Y = tensor<float, shape<100, 4, 1>>;

auto main(int, char** arguments) -> int {
  auto const learner = std::make_unique<training<model, X, adam>>();
  auto generator = torch_generator(1);
  model::initialize(learner->parameters, generator);
  auto batches = lane_batches(frequency::make_recordings(frequency::make_signal(1, 0.05)), 100);
  auto const memory = std::make_unique<slot<X, Y>>();
  auto loss = 0.0;
  for (auto epoch = 0; epoch < 2; ++epoch) {
    learner->restart();
    loss = 0;
    for (auto b = std::size_t{0}; b < batches.size(); ++b) {
      batches.load(b, 0, 1, *memory);
      loss += static_cast<double>(
          learner->step(memory->x.memory, memory->target.memory, mse{}, adam{.rate = 0.003}));
    }
    loss /= static_cast<double>(batches.size());
  }
  write_header(arguments[1], "filter", learner->parameters);
  std::printf("mean squared error of the second epoch: %.4f\n", loss);
  return loss < 0.4 ? 0 : 1;
}
