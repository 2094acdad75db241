// SPDX-License-Identifier: MIT
#include <tessera/models/diffusion.hpp>
#include <tessera/models/gpt.hpp>
#include <tessera/models/unet.hpp>
#include <tessera/optim/training.hpp>
#include <tessera/tessera.hpp>

#include <memory>

#include "../../examples/characters/network.hpp"
#include "../../examples/digits/network.hpp"

#include <benchmark/benchmark.h>

namespace {

using benchmark::State;
using namespace tessera;

/// Forward and backward, from random numbers, with the gradients of parameters and input.
template <class Model, class X> void both_ways(State& state) {
  auto const pass = std::make_unique<differentiation<Model, X>>();
  auto const p = std::make_unique<parameters_of<Model, owned<float>>>();
  auto const x = std::make_unique<X>();
  auto const dx = std::make_unique<X>();
  auto g = torch_generator(1);
  Model::initialize(*p, g);
  g.uniform(x->data(), x->size(), -1, 1);
  g.uniform(pass->dy.data(), pass->dy.size(), -1, 1);
  for (auto _ : state) {
    clear_parameters(pass->gradient);
    pass->forward(*p, *x);
    pass->backward(*p, *x, view_of<X>(*dx), pass->gradient, plain_context{});
    benchmark::ClobberMemory();
  }
}

using heads = self_attention<256, self_attention_options{.heads = 8}>;
BENCHMARK(both_ways<heads, tensor<float, shape<128, 8, 256>>>)->Name("attention/B8_T128_D256_H8");

using norm_block =
    sequential<conv2d<64, 64, 3, conv2d_options{.padding = 1}>, group_norm<8, 64>, silu_layer>;
BENCHMARK(both_ways<norm_block, tensor<float, shape<8, 32, 32, 64>>>)->Name("conv2d/B8_C64_32x32");

void unet_step(State& state) {
  using model = digits::denoiser;
  using X = tensor<float, shape<64, 8, 8, 1>>;
  using object = training<model, X, adam, 1, given_as<tag::condition, tensor<float, shape<64, 2>>>>;
  auto const t = std::make_unique<object>();
  auto const x = std::make_unique<X>();
  auto const y = std::make_unique<X>();
  auto c = tensor<float, shape<64, 2>>{};
  auto g = torch_generator(1);
  model::initialize(t->parameters, g);
  g.uniform(x->data(), x->size(), -1, 1);
  g.uniform(y->data(), y->size(), -1, 1);
  for (auto i = std::size_t{0}; i < 64; ++i) {
    c.values[2 * i] = static_cast<float>(g.randint(200));
    c.values[2 * i + 1] = static_cast<float>(g.randint(11));
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(t->step(*x, *y, mse{}, adam{}, given(as_const(c))));
  }
}
BENCHMARK(unet_step)->Name("unet_step/B64_8x8_C32_C64");

void gpt_step(State& state) {
  using model = characters::model;
  using X = tensor<float, shape<128, 16>>;
  using Y = tensor<std::int32_t, shape<128, 16>>;
  auto const t = std::make_unique<training<model, X, adamw>>();
  auto const x = std::make_unique<X>();
  auto const y = std::make_unique<Y>();
  auto g = torch_generator(1);
  model::initialize(t->parameters, g);
  for (auto& token : *x) token = static_cast<float>(g.randint(128));
  for (auto& token : *y) token = static_cast<std::int32_t>(g.randint(128));
  for (auto _ : state) benchmark::DoNotOptimize(t->step(*x, *y, cross_entropy{}, adamw{}));
}
BENCHMARK(gpt_step)->Name("gpt_step/B16_T128_D128_x4");

}  // namespace
