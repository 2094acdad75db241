// SPDX-License-Identifier: MIT
// A whole training step of a language model of twelve blocks.
#include <tessera/models/gpt.hpp>
#include <tessera/optim/training.hpp>
#include <tessera/tessera.hpp>

#include <memory>

using model =
    tessera::gpt<tessera::gpt_options{.vocabulary = 128, .width = 128, .blocks = 12, .heads = 4}>;
using tokens = tessera::tensor<float, tessera::shape<128, 4>>;
using classes = tessera::tensor<std::int32_t, tessera::shape<128, 4>>;

auto main() -> int {
  auto const learner = std::make_unique<tessera::training<model, tokens, tessera::adamw>>();
  auto const x = std::make_unique<tokens>();
  auto const y = std::make_unique<classes>();
  auto generator = tessera::torch_generator(1);
  model::initialize(learner->parameters, generator);
  return learner->step(*x, *y, tessera::cross_entropy{}, tessera::adamw{}) > 0 ? 0 : 1;
}
