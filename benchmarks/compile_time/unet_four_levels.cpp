// SPDX-License-Identifier: MIT
// A whole training step of a U-Net of four levels with two blocks each.
#include <tessera/models/unet.hpp>
#include <tessera/optim/training.hpp>
#include <tessera/tessera.hpp>

#include <memory>

using model = tessera::unet<tessera::unet_options{.in = 3,
                                                  .out = 3,
                                                  .levels = 4,
                                                  .channels = {32, 64, 96, 128},
                                                  .blocks = 2,
                                                  .attention_from = 1,
                                                  .head_width = 16,
                                                  .groups = 8}>;
using images = tessera::tensor<float, tessera::shape<4, 32, 32, 3>>;
using times = tessera::tensor<float, tessera::shape<4, 1>>;

auto main() -> int {
  using step = tessera::given_as<tessera::tag::condition, times>;
  auto const learner = std::make_unique<tessera::training<model, images, tessera::adam, 1, step>>();
  auto const x = std::make_unique<images>();
  auto const y = std::make_unique<images>();
  auto const t = times{};
  auto generator = tessera::torch_generator(1);
  model::initialize(learner->parameters, generator);
  auto const loss =
      learner->step(*x, *y, tessera::mse{}, tessera::adam{}, tessera::given(as_const(t)));
  return loss > 0 ? 0 : 1;
}
