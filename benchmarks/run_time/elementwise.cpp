// SPDX-License-Identifier: MIT
// Passes over memory at three sizes of one operand, and the bounds of the machine for each: one
// thread. Rows of softmax and norms have 256 numbers.
#include "elementwise.hpp"

#include <tessera/tessera.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>

#include "results.hpp"

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
      auto total = sum[0] + sum[1] + sum[2] + sum[3];  // the sums themselves stay in registers
      benchmark::DoNotOptimize(total);
      benchmark::ClobberMemory();
    }
  }
};
/// Four arrays are read, three of them written in place, by sums: products become subnormal.
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
          lane::store(memory[k].data() + i, lane::load(memory[k].data() + i) + v);
      }
      benchmark::ClobberMemory();
    }
  }
};

// -- rows -----------------------------------------------------------------------------------------
// A row makes its work for N numbers, which takes steps and tells what it starts from and comes to.
using elementwise::numbers;

[[nodiscard]] auto all_of(auto const& x) -> std::vector<float> {
  return {x.data(), x.data() + x.size()};
}

/// y = f(a, b, c), of which the first `Operands` are read.
template <std::size_t Operands, class F> struct expression_of {
  F f;
  template <std::size_t N> struct work {
    F f;
    std::unique_ptr<values<N>[]> memory = filled<values<N>>(4);

    void step() { memory[3] = f(memory[0], memory[1], memory[2]); }
    [[nodiscard]] auto tell() -> numbers {
      step();
      auto of = numbers{{"result", all_of(memory[3])}};
      for (auto i = std::size_t{0}; i < Operands; ++i)
        of[std::string(1, "abc"[i])] = all_of(memory[i]);
      return of;
    }
  };
  template <std::size_t N> [[nodiscard]] auto make() const { return work<N>{f}; }
};
template <class F> struct reduction_of {
  F f;
  template <std::size_t N> struct work {
    F f;
    std::unique_ptr<rows<N>[]> memory = filled<rows<N>>(1);

    void step() {
      auto y = evaluate(f(memory[0]));
      benchmark::DoNotOptimize(y);
    }
    [[nodiscard]] auto tell() -> numbers {
      return {{"x", all_of(memory[0])}, {"result", all_of(evaluate(f(memory[0])))}};
    }
  };
  template <std::size_t N> [[nodiscard]] auto make() const { return work<N>{f}; }
};
struct softmax_of_rows {
  template <std::size_t N> struct work {
    std::unique_ptr<rows<N>[]> memory = filled<rows<N>>(2);

    void step() { memory[1] = softmax(memory[0], axis<-1>); }
    [[nodiscard]] auto tell() -> numbers {
      step();
      return {{"x", all_of(memory[0])}, {"result", all_of(memory[1])}};
    }
  };
  template <std::size_t N> [[nodiscard]] auto make() const { return work<N>{}; }
};
template <class Layer, class Shape> struct forward_of {
  template <std::size_t N> struct work {
    using X = tensor<float, typename Shape::template of<N>>;
    using model = sequential<named<"", Layer>>;
    std::unique_ptr<parameters_of<model, owned<float>>> p =
        std::make_unique<parameters_of<model, owned<float>>>();
    std::unique_ptr<inference<model, X>> run = std::make_unique<inference<model, X>>();
    std::unique_ptr<X[]> x = filled<X>(1);

    work() {
      auto g = torch_generator(1);
      for_each_parameter([&](auto const&, auto& w) { g.uniform(w.data(), w.size(), -2, 2); }, *p);
    }
    void step() { benchmark::DoNotOptimize((*run)(*p, x[0]).data()); }
    [[nodiscard]] auto tell() -> numbers {
      auto of = numbers{{"x", all_of(x[0])}, {"result", all_of((*run)(*p, x[0]))}};
      for_each_parameter([&](auto const& path, auto const& w) { of[path.c_str()] = all_of(w); },
                         *p);
      return of;
    }
  };
  template <std::size_t N> [[nodiscard]] auto make() const { return work<N>{}; }
};
struct of_rows {
  template <std::size_t N> using of = shape<N / features, features>;
};
struct of_images {
  template <std::size_t N> using of = shape<N / 4096, 8, 8, 64>;
};

/// Losses with their slopes, as a training step asks for them.
struct squares {
  template <std::size_t N> struct work {
    std::unique_ptr<rows<N>[]> memory = filled<rows<N>>(3);

    void step() {
      benchmark::DoNotOptimize(mse::value_and_slope(as_const(memory[0]), as_const(memory[1]),
                                                    view_of<rows<N>>{memory[2].data()},
                                                    1.0F / static_cast<float>(N)));
    }
    [[nodiscard]] auto tell() -> numbers {
      step();
      return {
          {"x", all_of(memory[0])}, {"target", all_of(memory[1])}, {"result", all_of(memory[2])}};
    }
  };
  template <std::size_t N> [[nodiscard]] auto make() const { return work<N>{}; }
};
struct classes {
  template <std::size_t N> struct work {
    using targets = tensor<std::int32_t, shape<N / features>>;
    std::unique_ptr<rows<N>[]> memory = filled<rows<N>>(2);
    std::unique_ptr<targets> target = std::make_unique<targets>();

    work() {
      for (auto i = std::size_t{0}; i < N / features; ++i)
        target->values[i] = static_cast<std::int32_t>(i * 7 % features);
    }
    void step() {
      benchmark::DoNotOptimize(cross_entropy{}.value_and_slope(
          as_const(memory[0]), as_const(*target), view_of<rows<N>>{memory[1].data()},
          1.0F / static_cast<float>(N / features)));
    }
    [[nodiscard]] auto tell() -> numbers {
      step();
      return {{"x", all_of(memory[0])},
              {"target", all_of(evaluate(cast<float>(*target)))},
              {"result", all_of(memory[1])}};
    }
  };
  template <std::size_t N> [[nodiscard]] auto make() const { return work<N>{}; }
};

template <std::size_t N> struct block {
  values<N> numbers;
  TESSERA_PARAMETERS(numbers)
};
struct adam_step {
  template <std::size_t N> struct work {
    std::unique_ptr<block<N>> p = std::make_unique<block<N>>();
    std::unique_ptr<block<N>> gradient = std::make_unique<block<N>>();
    std::unique_ptr<adam::moments<block<N>>> moments = std::make_unique<adam::moments<block<N>>>();

    work() {
      fill(p->numbers, 1);
      fill(gradient->numbers, 2);
    }
    void step() { adam{}.update(*p, *gradient, *moments); }
    [[nodiscard]] auto tell() -> numbers {
      auto of = numbers{{"p", all_of(p->numbers)}, {"gradient", all_of(gradient->numbers)}};
      step();
      of["result"] = all_of(p->numbers);
      return of;
    }
  };
  template <std::size_t N> [[nodiscard]] auto make() const { return work<N>{}; }
};

[[nodiscard]] auto tellers() -> std::map<std::string, std::function<numbers()>>& {
  static auto known = std::map<std::string, std::function<numbers()>>{};
  return known;
}
void write(std::filesystem::path const& file, numbers const& told) {
  auto writer = safetensors_writer{};
  for (auto const& [name, values] : told) {
    auto const bytes = std::as_bytes(std::span{values});
    writer.add_kept(name, dtype_of<float>(), {values.size()}, {bytes.begin(), bytes.end()});
  }
  writer.write(file);
}

/// Calls f<N>(size) for the three sizes.
void for_all_sizes(auto const& f) {
  f.template operator()<(16 << 10) / sizeof(float)>("/16KB");
  f.template operator()<(256 << 10) / sizeof(float)>("/256KB");
  f.template operator()<(64 << 20) / sizeof(float)>("/64MB");
}
template <class Pass> void add_bound(std::string const& name, Pass) {
  for_all_sizes([&]<std::size_t N>(char const* size) {
    benchmark::RegisterBenchmark(("bound/" + name + size).c_str(),
                                 [](State& state) { Pass::template run<N>(state); });
  });
}
template <class Row> void add_row(std::string const& name, Row row) {
  for_all_sizes([&]<std::size_t N>(char const* size) {
    benchmark::RegisterBenchmark((name + size).c_str(), [row](State& state) {
      auto work = row.template make<N>();
      for (auto _ : state) {
        work.step();
        benchmark::ClobberMemory();
      }
    });
    tellers()[name + size] = [row] { return row.template make<N>().tell(); };
    results::of_row(name + size, [row](std::filesystem::path const& file) {
      write(file, row.template make<N>().tell());
    });
  });
}
template <std::size_t Operands = 1, class F> void add_expression(std::string const& name, F f) {
  add_row(name, expression_of<Operands, F>{f});
}
template <class F> void add_reduction(std::string const& name, F f) {
  add_row(name, reduction_of<F>{f});
}

[[maybe_unused]] auto const registered = [] {
  add_bound("read", pass<1, false>{});
  add_bound("read_write", pass<1, true>{});
  add_bound("two_read_write", pass<2, true>{});
  add_bound("three_read_write", pass<3, true>{});
  add_bound("step", step_in_place{});
  add_expression<3>("chain", [](auto const& a, auto const& b, auto const& c) {
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
  add_row("softmax", softmax_of_rows{});
  add_row("layer_norm", forward_of<layer_norm<features>, of_rows>{});
  add_row("group_norm", forward_of<group_norm<8, 64>, of_images>{});
  add_row("mse", squares{});
  add_row("cross_entropy", classes{});
  add_row("adam", adam_step{});
  return true;
}();

}  // namespace

auto elementwise::told(std::string const& row) -> numbers { return tellers().at(row)(); }
