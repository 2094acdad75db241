// SPDX-License-Identifier: MIT
#include <tessera/models/diffusion.hpp>
#include <tessera/models/gpt.hpp>
#include <tessera/models/unet.hpp>
#include <tessera/optim/training.hpp>
#include <tessera/tessera.hpp>

#include <memory>
#include <string>
#include <utility>

#include "../../examples/characters/network.hpp"
#include "../../examples/digits/network.hpp"
#include "results.hpp"

#include <benchmark/benchmark.h>

namespace {

using benchmark::State;
using namespace tessera;

/// Registers a row that makes its Work anew and takes its steps, and tells the first ones.
template <class Work> void add_row(std::string const& name) {
  benchmark::RegisterBenchmark(name.c_str(), [](State& state) {
    auto const work = std::make_unique<Work>();
    for (auto _ : state) {
      work->step();
      benchmark::ClobberMemory();
    }
  });
  results::of_row(name, [](std::filesystem::path const& file) {
    auto writer = safetensors_writer{};
    std::make_unique<Work>()->tell(writer);
    writer.write(file);
  });
}
/// The parameters before, what steps are given and the losses of three of them.
void tell_losses(safetensors_writer& writer, auto& work, auto const&... named) {
  results::add_parameters(writer, work.t.parameters);
  (results::add(writer, named.first, *named.second), ...);
  auto losses = tensor<float, shape<3>>{};
  for (auto& loss : losses) loss = work.step();
  results::add(writer, "results", losses);
}

/// Forward and backward, from random numbers, with the gradients of parameters and input.
template <class Model, class X> struct both_ways {
  differentiation<Model, X> pass;
  parameters_of<Model, owned<float>> p;
  X x;
  X dx;

  both_ways() {
    auto g = torch_generator(1);
    Model::initialize(p, g);
    g.uniform(x.data(), x.size(), -1, 1);
    g.uniform(pass.dy.data(), pass.dy.size(), -1, 1);
  }
  void step() {
    clear_parameters(pass.gradient);
    pass.forward(p, x);
    pass.backward(p, x, view_of<X>(dx), pass.gradient, plain_context{});
  }
  void tell(safetensors_writer& writer) {
    step();
    results::add_parameters(writer, p);
    results::add(writer, "x", x);
    results::add(writer, "dy", pass.dy);
    results::add(writer, "result", dx);
  }
};

/// One query over the keys and values of a cache: 12 heads of 64 numbers.
struct attention_decode {
  static constexpr auto keys = std::size_t{1024};
  static constexpr auto heads = std::size_t{12};
  static constexpr auto width = std::size_t{64};
  static constexpr auto row = heads * width;

  detail::attention_fn::workspace<tensor<float, shape<1, row>>, keys, width> work;
  tensor<float, shape<1, row>> q;
  tensor<float, shape<keys, row>> k;
  tensor<float, shape<keys, row>> v;
  tensor<float, shape<1, row>> y;

  attention_decode() {
    auto g = torch_generator(1);
    for (auto* const x : {&k, &v}) g.uniform(x->data(), x->size(), -1, 1);
    g.uniform(q.data(), q.size(), -1, 1);
  }
  void step() {
    scaled_dot_product_attention.forward<default_backend, float>(
        {.first = {.queries = 1,
                   .keys = keys,
                   .width = width,
                   .q_row = row,
                   .kv_row = row,
                   .out = row,
                   .sum = heads,
                   .before = keys - 1,
                   .causal = true,
                   .scale = 0.125F,
                   .q = q.data(),
                   .k = k.data(),
                   .v = v.data()},
         .lanes = 1,
         .heads = heads,
         .sharing = 1,
         .q_lane = row,
         .kv_lane = row,
         .out_lane = row,
         .sum_lane = heads},
        y.data(), static_cast<float*>(nullptr), work);
  }
  void tell(safetensors_writer& writer) {
    step();
    results::add(writer, "q", q);
    results::add(writer, "k", k);
    results::add(writer, "v", v);
    results::add(writer, "result", y);
  }
};

using heads = self_attention<256, self_attention_options{.heads = 8}>;
using norm_block = sequential<named<"0", conv2d<64, 64, 3, conv2d_options{.padding = 1}>>,
                              named<"1", group_norm<8, 64>>, silu_layer>;

struct unet_step {
  using model = digits::denoiser;
  using X = tensor<float, shape<64, 8, 8, 1>>;
  using C = tensor<float, shape<64, 2>>;

  training<model, X, adam, 1, given_as<tag::condition, C>> t{};
  X x;
  X y;
  C c;

  unet_step() {
    auto g = torch_generator(1);
    model::initialize(t.parameters, g);
    g.uniform(x.data(), x.size(), -1, 1);
    g.uniform(y.data(), y.size(), -1, 1);
    for (auto i = std::size_t{0}; i < 64; ++i) {
      c.values[2 * i] = static_cast<float>(g.randint(200));
      c.values[2 * i + 1] = static_cast<float>(g.randint(11));
    }
  }
  auto step() -> float { return t.step(x, y, mse{}, adam{}, given(as_const(c))); }
  void tell(safetensors_writer& writer) {
    tell_losses(writer, *this, std::pair{"x", &x}, std::pair{"y", &y}, std::pair{"c", &c});
  }
};

struct gpt_step {
  using model = characters::model;
  using X = tensor<float, shape<128, 16>>;
  using Y = tensor<std::int32_t, shape<128, 16>>;

  training<model, X, adamw> t{};
  X x;
  Y y;

  gpt_step() {
    auto g = torch_generator(1);
    model::initialize(t.parameters, g);
    for (auto& token : x) token = static_cast<float>(g.randint(128));
    for (auto& token : y) token = static_cast<std::int32_t>(g.randint(128));
  }
  auto step() -> float { return t.step(x, y, cross_entropy{}, adamw{}); }
  void tell(safetensors_writer& writer) {
    tell_losses(writer, *this, std::pair{"x", &x}, std::pair{"y", &y});
  }
};

[[maybe_unused]] auto const rows = [] {
  add_row<both_ways<heads, tensor<float, shape<128, 8, 256>>>>("attention/B8_T128_D256_H8");
  add_row<attention_decode>("attention/decode_K1024_D768_H12");
  add_row<both_ways<norm_block, tensor<float, shape<8, 32, 32, 64>>>>("conv2d/B8_C64_32x32");
  add_row<unet_step>("unet_step/B64_8x8_C32_C64");
  add_row<gpt_step>("gpt_step/B16_T128_D128_x4");
  return 0;
}();

}  // namespace
