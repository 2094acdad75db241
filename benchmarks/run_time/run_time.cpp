// SPDX-License-Identifier: MIT
// Tessera's side of benchmarks/run_time/compare.py: one thread.
#include <tessera/tessera.hpp>
#include <tessera/train/workers.hpp>

#include <memory>
#include <numeric>
#include <string>
#include <utility>

#include "results.hpp"
#include "spread.hpp"
#include "stream.hpp"

#include <benchmark/benchmark.h>

using namespace tessera;
using benchmark::State;

namespace {

// -- streams --------------------------------------------------------------------------------------
template <class Recurrent, std::size_t Hidden, class Backend = default_backend>
void add_stream(std::string const& name) {
  benchmark::RegisterBenchmark(name.c_str(), [](State& state) {
    auto s = run_time::stream<Recurrent, Hidden, Backend>{};
    for (auto _ : state) benchmark::DoNotOptimize(s.step());
  });
  results::of_row(name, [](std::filesystem::path const& file) {
    auto s = run_time::stream<Recurrent, Hidden, Backend>{};
    auto y = tensor<float, shape<20>>{};
    for (auto& value : y) value = s.step();
    auto writer = safetensors_writer{};
    results::add_parameters(writer, *s.p);
    results::add(writer, "results", y);
    writer.write(file);
  });
}

/// A step with one row: as fast as its weights can be read, in 32, 16 or 8 bits each.
template <class Model, class X, class Storage> void step(State& state) {
  using stored = parameters_of<Model, Storage>;
  auto const p = std::make_unique<parameters_of<Model, owned<float>>>();
  auto const q = std::make_unique<stored>();
  run_time::fill_parameters(*p);
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

// -- training -------------------------------------------------------------------------------------
/// A recurrent layer and a linear one, and the chunks of one batch.
template <class Recurrent, std::size_t Hidden, std::size_t Time, std::size_t Batch, std::size_t In,
          std::size_t Chunks = 1>
struct task {
  using model = sequential<named<"recurrent", Recurrent>, named<"linear", linear<Hidden, 1>>>;
  using X = tensor<float, shape<Time, Batch / Chunks, In>>;
  using Y = tensor<float, shape<Time, Batch / Chunks, 1>>;

  std::unique_ptr<training<model, X, adam, Chunks>> t =
      std::make_unique<training<model, X, adam, Chunks>>();
  std::unique_ptr<X[]> x = std::make_unique<X[]>(Chunks);
  std::unique_ptr<Y[]> y = std::make_unique<Y[]>(Chunks);
  float losses[Chunks]{};

  task() {
    *t = {};
    auto g = torch_generator(1);
    model::initialize(t->parameters, g);
    for (auto c = std::size_t{0}; c < Chunks; ++c) {
      g.uniform(x[c].data(), x[c].size(), -1, 1);
      g.uniform(y[c].data(), y[c].size(), -1, 1);
    }
  }
  auto step() -> float {
    t->restart();
    return t->step(x[0], y[0], mse{}, adam{});
  }
  /// As the trainer does: the chunks by whoever works, the rest by one.
  auto step(workers& by) -> float {
    t->restart();
    by.run(Chunks, [&](std::size_t c) {
      auto const target = as_const(y[c]);
      losses[c] = t->differentiate(c, as_const(x[c]), target, mse{}, Chunks * mse{}.terms(target),
                                   plain_context{});
    });
    t->gradient();
    t->update(adam{});
    return std::accumulate(losses, losses + Chunks, 0.0F);
  }
};

/// A row of one thread; and `threads/<row>`, two chunks by two threads, beside it by one.
template <class Recurrent, std::size_t Hidden, std::size_t Time, std::size_t Batch, std::size_t In>
void add_task(std::string const& name) {
  using whole = task<Recurrent, Hidden, Time, Batch, In>;
  using halves = task<Recurrent, Hidden, Time, Batch, In, 2>;
  auto const plain = [](State& state) {
    auto t = whole{};
    for (auto _ : state) benchmark::DoNotOptimize(t.step());
  };
  auto const by = [](std::size_t threads) {
    return [threads](State& state) {
      auto t = halves{};
      auto workers = tessera::workers{threads};
      spread(workers);
      for (auto _ : state) benchmark::DoNotOptimize(t.step(workers));
    };
  };
  benchmark::RegisterBenchmark(name.c_str(), plain);
  benchmark::RegisterBenchmark(("threads/" + name).c_str(), by(2))->UseRealTime();
  benchmark::RegisterBenchmark(("one_thread/threads/" + name).c_str(), plain)->UseRealTime();
  benchmark::RegisterBenchmark(("two_chunks/threads/" + name).c_str(), by(1))->UseRealTime();
  results::of_row(name, [](std::filesystem::path const& file) {
    auto t = whole{};
    auto writer = safetensors_writer{};
    results::add_parameters(writer, t.t->parameters);
    results::add(writer, "x", t.x[0]);
    results::add(writer, "y", t.y[0]);
    auto losses = tensor<float, shape<3>>{};
    for (auto& loss : losses) loss = t.step();
    results::add(writer, "results", losses);
    writer.write(file);
  });
}

[[maybe_unused]] auto const rows = [] {
  [&]<std::size_t... H>(std::index_sequence<H...>) {
    (add_stream<lstm<1, H>, H>("stream/H" + std::to_string(H)), ...);
    (add_stream<gru<1, H>, H>("stream/gru_H" + std::to_string(H)), ...);
    (add_stream<lstm<1, H>, H, relaxed>("stream/relaxed_H" + std::to_string(H)), ...);
    (add_stream<gru<1, H>, H, relaxed>("stream/relaxed_gru_H" + std::to_string(H)), ...);
  }(std::index_sequence<8, 16, 32, 64, 128>{});
  add_task<lstm<1, 64>, 64, 50, 32, 1>("train/T50_B32_I1_H64");
  add_task<lstm<1, 128>, 128, 100, 32, 1>("train/T100_B32_I1_H128");
  add_task<lstm<5, 128, lstm_options{.layers = 2}>, 128, 100, 32, 5>("train/T100_B32_I5_H128x2");
  add_task<gru<1, 64>, 64, 50, 32, 1>("train/gru_T50_B32_I1_H64");
  return 0;
}();

}  // namespace
