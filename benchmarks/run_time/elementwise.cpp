// SPDX-License-Identifier: MIT
// Passes over memory at three sizes of one operand, and the bounds of the machine for each: one
// thread. Rows of softmax and norms have 256 numbers.
#include <tessera/tessera.hpp>

#include <memory>
#include <string>

#include <benchmark/benchmark.h>

using namespace tessera;
using benchmark::State;

namespace {

constexpr auto features = std::size_t{256};
template <std::size_t N> using values = tensor<float, shape<N>>;
template <std::size_t N> using rows = tensor<float, shape<N / features, features>>;

void fill(auto& x, unsigned seed) {
  auto g = torch_generator(seed);
  g.uniform(x.data(), x.size(), -2, 2);
}
/// Tensors beside each other, with numbers between -2 and 2.
template <class X> [[nodiscard]] auto filled(unsigned count) -> std::unique_ptr<X[]> {
  auto memory = std::make_unique<X[]>(count);
  for (auto i = 0U; i < count; ++i) fill(memory[i], i + 1);
  return memory;
}

// -- bounds: what is read and written, with no work between ---------------------------------------
template <std::size_t Read, bool Written> struct pass {
  template <std::size_t N> static void run(State& state) {
    using V = lane::pack<float>;
    auto const memory = filled<values<N>>(Read + 1);
    float const* from[Read];
    for (auto r = std::size_t{0}; r < Read; ++r) from[r] = memory[r].data();
    auto* const to = memory[Read].data();
    for (auto _ : state) {
      V sum[4] = {V(0.0F), V(0.0F), V(0.0F), V(0.0F)};
      for (auto i = std::size_t{0}; i < N; i += 4 * V::width) {
#pragma GCC unroll 4
        for (auto k = std::size_t{0}; k < 4; ++k) {
          auto const at = i + k * V::width;
          auto v = lane::load(from[0] + at);
#pragma GCC unroll 4
          for (auto r = std::size_t{1}; r < Read; ++r) v = v + lane::load(from[r] + at);
          if constexpr (Written)
            lane::store(to + at, v);
          else
            sum[k] = sum[k] + v;
        }
      }
      for (auto& s : sum) benchmark::DoNotOptimize(s);
      benchmark::ClobberMemory();
    }
  }
};
/// Four arrays are read, three of them written in place.
struct step_in_place {
  template <std::size_t N> static void run(State& state) {
    using V = lane::pack<float>;
    auto const memory = filled<values<N>>(4);
    auto const* const g = memory[3].data();
    for (auto _ : state) {
      for (auto i = std::size_t{0}; i < N; i += V::width) {
        auto const v = lane::load(g + i);
#pragma GCC unroll 4
        for (auto k = std::size_t{0}; k < 3; ++k)
          lane::store(memory[k].data() + i, lane::load(memory[k].data() + i) * v);
      }
      benchmark::ClobberMemory();
    }
  }
};

// -- rows -----------------------------------------------------------------------------------------
/// y = f(a, b, c), with as many operands as f takes.
template <class F> struct expression_of {
  F f;
  template <std::size_t N> void run(State& state) const {
    auto const memory = filled<values<N>>(4);
    for (auto _ : state) {
      memory[3] = f(memory[0], memory[1], memory[2]);
      benchmark::ClobberMemory();
    }
  }
};
template <class F> struct reduction_of {
  F f;
  template <std::size_t N> void run(State& state) const {
    auto const memory = filled<rows<N>>(1);
    for (auto _ : state) {
      auto y = evaluate(f(memory[0]));
      benchmark::DoNotOptimize(y);
    }
  }
};
struct softmax_of_rows {
  template <std::size_t N> static void run(State& state) {
    auto const memory = filled<rows<N>>(2);
    for (auto _ : state) {
      memory[1] = softmax(memory[0], axis<-1>);
      benchmark::ClobberMemory();
    }
  }
};
template <class Layer, class Shape> struct forward_of {
  template <std::size_t N> static void run(State& state) {
    using X = tensor<float, typename Shape::template of<N>>;
    auto const p = std::make_unique<parameters_of<sequential<Layer>, owned<float>>>();
    auto const run = std::make_unique<inference<sequential<Layer>, X>>();
    auto g = torch_generator(1);
    sequential<Layer>::initialize(*p, g);
    auto const x = filled<X>(1);
    for (auto _ : state) benchmark::DoNotOptimize((*run)(*p, x[0]).data());
  }
};
struct of_rows {
  template <std::size_t N> using of = shape<N / features, features>;
};
struct of_images {
  template <std::size_t N> using of = shape<N / 4096, 8, 8, 64>;
};

/// Losses with their slopes, as a training step asks for them.
struct squares {
  template <std::size_t N> static void run(State& state) {
    auto const memory = filled<rows<N>>(3);
    auto const scale = 1.0F / static_cast<float>(N);
    for (auto _ : state)
      benchmark::DoNotOptimize(mse::value_and_slope(as_const(memory[0]), as_const(memory[1]),
                                                    view_of<rows<N>>{memory[2].data()}, scale));
  }
};
struct classes {
  template <std::size_t N> static void run(State& state) {
    auto const memory = filled<rows<N>>(2);
    auto const target = std::make_unique<tensor<std::int32_t, shape<N / features>>>();
    for (auto i = std::size_t{0}; i < N / features; ++i)
      target->values[i] = static_cast<std::int32_t>(i * 7 % features);
    auto const scale = 1.0F / static_cast<float>(N / features);
    for (auto _ : state)
      benchmark::DoNotOptimize(cross_entropy{}.value_and_slope(
          as_const(memory[0]), as_const(*target), view_of<rows<N>>{memory[1].data()}, scale));
  }
};

template <std::size_t N> struct block {
  values<N> numbers;
  TESSERA_PARAMETERS(numbers)
};
struct adam_step {
  template <std::size_t N> static void run(State& state) {
    auto const p = std::make_unique<block<N>>();
    auto const gradient = std::make_unique<block<N>>();
    auto const moments = std::make_unique<adam::moments<block<N>>>();
    fill(p->numbers, 1);
    fill(gradient->numbers, 2);
    for (auto _ : state) {
      adam{}.update(*p, *gradient, *moments);
      benchmark::ClobberMemory();
    }
  }
};

template <class Row> void at_all_sizes(std::string const& name, Row row) {
  auto const add = [&]<std::size_t N>(std::string const& size) {
    benchmark::RegisterBenchmark((name + '/' + size).c_str(),
                                 [row](State& state) { row.template run<N>(state); });
  };
  add.template operator()<(16 << 10) / sizeof(float)>("16KB");
  add.template operator()<(256 << 10) / sizeof(float)>("256KB");
  add.template operator()<(64 << 20) / sizeof(float)>("64MB");
}
template <class F> void add_expression(std::string const& name, F f) {
  at_all_sizes(name, expression_of<F>{f});
}
template <class F> void add_reduction(std::string const& name, F f) {
  at_all_sizes(name, reduction_of<F>{f});
}

[[maybe_unused]] auto const registered = [] {
  at_all_sizes("bound/read", pass<1, false>{});
  at_all_sizes("bound/read_write", pass<1, true>{});
  at_all_sizes("bound/two_read_write", pass<2, true>{});
  at_all_sizes("bound/three_read_write", pass<3, true>{});
  at_all_sizes("bound/step", step_in_place{});
  add_expression("chain", [](auto const& a, auto const& b, auto const& c) {
    return (a * b + c) * 0.5F - max(a, c);
  });
  add_expression("exp", [](auto const& a, auto const&, auto const&) { return exp(a); });
  add_expression("tanh", [](auto const& a, auto const&, auto const&) { return tanh(a); });
  add_expression("sigmoid", [](auto const& a, auto const&, auto const&) { return sigmoid(a); });
  add_expression("silu", [](auto const& a, auto const&, auto const&) { return silu(a); });
  add_expression("gelu", [](auto const& a, auto const&, auto const&) { return gelu(a); });
  add_reduction("sum", [](auto const& a) { return sum(a); });
  add_reduction("max", [](auto const& a) { return max(a); });
  add_reduction("sum_rows", [](auto const& a) { return sum(a, axis<0>); });
  at_all_sizes("softmax", softmax_of_rows{});
  at_all_sizes("layer_norm", forward_of<layer_norm<features>, of_rows>{});
  at_all_sizes("group_norm", forward_of<group_norm<8, 64>, of_images>{});
  at_all_sizes("mse", squares{});
  at_all_sizes("cross_entropy", classes{});
  at_all_sizes("adam", adam_step{});
  return true;
}();

}  // namespace

BENCHMARK_MAIN();
