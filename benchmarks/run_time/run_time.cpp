// SPDX-License-Identifier: MIT
// Tessera's side of benchmarks/run_time/compare.py: one thread.
#include <tessera/tessera.hpp>

#include <memory>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

using namespace tessera;
using benchmark::State;

namespace {

template <class P> void fill_parameters(P& p) {
  auto g = torch_generator(1);
  for_each_parameter([&](path_name const&, auto& w) { g.uniform(w, 0.1); }, p);
}

// -- LSTM -----------------------------------------------------------------------------------------
template <std::size_t Hidden> void stream(State& state) {
  using model = sequential<lstm<1, Hidden>, linear<Hidden, 1>>;
  using X = tensor<float, shape<1, 1>>;
  auto const p = std::make_unique<parameters_of<model, owned<float>>>();
  auto const q = std::make_unique<parameters_of<model, packed<float>>>();
  fill_parameters(*p);
  pack_parameters(*p, *q);
  auto const run = std::make_unique<streaming<model, X>>();
  run->state = {};
  auto x = X{{0.3F}};
  for (auto _ : state) x.values[0] = run->step(*q, x).data()[0];
  benchmark::DoNotOptimize(x);
}
BENCHMARK(stream<8>)->Name("stream/H8");
BENCHMARK(stream<16>)->Name("stream/H16");
BENCHMARK(stream<32>)->Name("stream/H32");
BENCHMARK(stream<64>)->Name("stream/H64");
BENCHMARK(stream<128>)->Name("stream/H128");

/// A step with one row: as fast as its weights can be read, in 32, 16 or 8 bits each.
template <class Model, class X, class Storage> void step(State& state) {
  using stored = parameters_of<Model, Storage>;
  auto const p = std::make_unique<parameters_of<Model, owned<float>>>();
  auto const q = std::make_unique<stored>();
  fill_parameters(*p);
  pack_parameters(*p, *q);
  auto const run = std::make_unique<streaming<Model, X>>();
  run->state = {};
  auto const x = std::make_unique<X>();
  *x = 0.3F;
  for (auto _ : state) benchmark::DoNotOptimize(run->step(*q, *x).data()[0]);
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(sizeof(stored)));
}
using wide = linear<2048, 2048>;
using values = tensor<float, shape<2048>>;
BENCHMARK(step<wide, values, packed<float>>)->Name("step/linear2048");
BENCHMARK(step<wide, values, packed<float, bf16>>)->Name("step/linear2048/bf16");
BENCHMARK(step<wide, values, packed<float, std::int8_t>>)->Name("step/linear2048/int8");
/// One of a convolution, whose weights arrange themselves at every step or once.
using taps = conv1d<64, 64, 3, conv1d_options{.causal = true}>;
using channels = tensor<float, shape<1, 64>>;
BENCHMARK(step<taps, channels, owned<float>>)->Name("step/conv1d_64_taps3/owned");
BENCHMARK(step<taps, channels, packed<float>>)->Name("step/conv1d_64_taps3");

template <std::size_t Time, std::size_t Batch, std::size_t In, std::size_t Hidden,
          std::size_t Layers>
void train(State& state) {
  using model = sequential<lstm<In, Hidden, lstm_options{.layers = Layers}>, linear<Hidden, 1>>;
  using X = tensor<float, shape<Time, Batch, In>>;
  using Y = tensor<float, shape<Time, Batch, 1>>;
  auto const t = std::make_unique<training<model, X, adam>>();
  *t = {};
  auto g = torch_generator(1);
  model::initialize(t->parameters, g);
  auto const x = std::make_unique<X>();
  auto const y = std::make_unique<Y>();
  g.uniform(x->data(), x->size(), -1, 1);
  g.uniform(y->data(), y->size(), -1, 1);
  for (auto _ : state) {
    t->restart();
    benchmark::DoNotOptimize(t->step(*x, *y, mse{}, adam{}));
  }
}
BENCHMARK(train<50, 32, 1, 64, 1>)->Name("train/T50_B32_I1_H64");
BENCHMARK(train<100, 32, 1, 128, 1>)->Name("train/T100_B32_I1_H128");
BENCHMARK(train<100, 32, 5, 128, 2>)->Name("train/T100_B32_I5_H128x2");

// -- expressions ----------------------------------------------------------------------------------
template <std::size_t N, class F> void elementwise(State& state, F const& f) {
  using X = tensor<float, shape<N>>;
  auto const memory = std::make_unique<X[]>(4);
  auto g = torch_generator(1);
  for (auto i = 0; i < 3; ++i) g.uniform(memory[i].data(), N, -2, 2);
  for (auto _ : state) {
    memory[3] = f(memory[0], memory[1], memory[2]);
    benchmark::ClobberMemory();
  }
}
template <std::size_t N> void chain(State& state) {
  elementwise<N>(state, [](auto const& a, auto const& b, auto const& c) {
    return (a * b + c) * 0.5F - max(a, c);
  });
}
template <std::size_t N> void gelu_chain(State& state) {
  elementwise<N>(state,
                 [](auto const& a, auto const& b, auto const& c) { return gelu(a * b + c); });
}
template <std::size_t N> void tanh_chain(State& state) {
  elementwise<N>(state,
                 [](auto const& a, auto const& b, auto const& c) { return tanh(a * b + c); });
}
template <std::size_t N> void reduce_sum(State& state) {
  using X = tensor<float, shape<N>>;
  auto const x = std::make_unique<X>();
  auto g = torch_generator(1);
  g.uniform(x->data(), N, -2, 2);
  for (auto _ : state) {
    auto total = evaluate(sum(*x));
    benchmark::DoNotOptimize(total);
  }
}
template <std::size_t N> void reduce_norm(State& state) {
  using X = tensor<float, shape<N>>;
  auto const x = std::make_unique<X>();
  auto g = torch_generator(1);
  g.uniform(x->data(), N, -2, 2);
  for (auto _ : state) {
    auto total = evaluate(sum(square(*x)));
    benchmark::DoNotOptimize(total);
  }
}
BENCHMARK(chain<16384>)->Name("chain/16K");
BENCHMARK(chain<4194304>)->Name("chain/4M");
BENCHMARK(tanh_chain<16384>)->Name("tanh/16K");
BENCHMARK(gelu_chain<16384>)->Name("gelu/16K");
BENCHMARK(reduce_sum<16384>)->Name("sum/16K");
BENCHMARK(reduce_sum<4194304>)->Name("sum/4M");
BENCHMARK(reduce_norm<16384>)->Name("square_sum/16K");

}  // namespace
