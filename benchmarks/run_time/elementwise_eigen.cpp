// SPDX-License-Identifier: MIT
// The rows of elementwise.cpp as one writes them with Eigen.
#include <memory>
#include <random>
#include <string>

#include <benchmark/benchmark.h>
#include <unsupported/Eigen/SpecialFunctions>

using benchmark::State;

namespace {

using Eigen::Index;
using numbers = Eigen::ArrayXf;
using rows = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr auto features = Index{256};

template <class X> [[nodiscard]] auto filled(X x, unsigned seed) -> X {
  auto engine = std::mt19937(seed);
  auto uniform = std::uniform_real_distribution<float>(-2, 2);
  for (auto i = Index{0}; i < x.size(); ++i) x.data()[i] = uniform(engine);
  return x;
}
[[nodiscard]] auto array(Index n, unsigned seed) -> numbers { return filled(numbers(n), seed); }
[[nodiscard]] auto matrix(Index n, unsigned seed) -> rows {
  return filled(rows(n / features, features), seed);
}

template <class F> void repeat(State& state, F f) {
  for (auto _ : state) {
    f();
    benchmark::ClobberMemory();
  }
}
template <class F> void one_operand(State& state, Index n, F f) {
  auto const x = array(n, 1);
  auto y = numbers(n);
  repeat(state, [&] { y = f(x); });
}
template <class F> void reduction(State& state, Index n, F f) {
  auto const x = array(n, 1);
  for (auto _ : state) {
    auto y = f(x);
    benchmark::DoNotOptimize(y);
  }
}

void chain(State& state, Index n) {
  auto const a = array(n, 1);
  auto const b = array(n, 2);
  auto const c = array(n, 3);
  auto y = numbers(n);
  repeat(state, [&] { y = (a * b + c) * 0.5F - a.max(c); });
}
void sum_rows(State& state, Index n) {
  auto const x = matrix(n, 1);
  auto y = Eigen::Array<float, 1, Eigen::Dynamic>(features);
  repeat(state, [&] { y = x.colwise().sum(); });
}
void softmax(State& state, Index n) {
  auto const x = matrix(n, 1);
  auto y = rows(n / features, features);
  repeat(state, [&] {
    for (auto r = Index{0}; r < x.rows(); ++r) {
      y.row(r) = (x.row(r) - x.row(r).maxCoeff()).exp();
      y.row(r) *= 1.0F / y.row(r).sum();
    }
  });
}
void layer_norm(State& state, Index n) {
  auto const x = matrix(n, 1);
  auto const weight = Eigen::Array<float, 1, Eigen::Dynamic>(filled(x.row(0).eval(), 2));
  auto const bias = Eigen::Array<float, 1, Eigen::Dynamic>(filled(x.row(0).eval(), 3));
  auto y = rows(n / features, features);
  repeat(state, [&] {
    for (auto r = Index{0}; r < x.rows(); ++r) {
      auto const mean = x.row(r).mean();
      auto const variance = (x.row(r) - mean).square().mean();
      y.row(r) = (x.row(r) - mean) * (1.0F / std::sqrt(variance + 1e-5F)) * weight + bias;
    }
  });
}
void mse(State& state, Index n) {
  auto const y = array(n, 1);
  auto const target = array(n, 2);
  auto dy = numbers(n);
  auto const scale = 1.0F / static_cast<float>(n);
  for (auto _ : state) {
    dy = (y - target) * (2 * scale);
    auto loss = (y - target).square().sum() * scale;
    benchmark::DoNotOptimize(loss);
    benchmark::ClobberMemory();
  }
}
void adam(State& state, Index n) {
  auto p = array(n, 1);
  auto const g = array(n, 2);
  auto first = numbers(numbers::Zero(n));
  auto second = numbers(numbers::Zero(n));
  auto power_1 = 1.0;
  auto power_2 = 1.0;
  repeat(state, [&] {
    power_1 *= 0.9;
    power_2 *= 0.999;
    auto const step = static_cast<float>(1e-3 / (1 - power_1));
    auto const correction = static_cast<float>(std::sqrt(1 - power_2));
    first += (g - first) * 0.1F;
    second = second * 0.999F + g.square() * 0.001F;
    p -= step * first / (second.sqrt() / correction + 1e-8F);
  });
}

void at_all_sizes(std::string const& name, void (*row)(State&, Index)) {
  auto const add = [&](char const* size, Index n) {
    benchmark::RegisterBenchmark(("eigen/" + name + '/' + size).c_str(),
                                 [=](State& state) { row(state, n); });
  };
  add("16KB", (Index{16} << 10) / 4);
  add("256KB", (Index{256} << 10) / 4);
  add("64MB", (Index{64} << 20) / 4);
}

[[maybe_unused]] auto const registered = [] {
  at_all_sizes("chain", chain);
  at_all_sizes("exp", [](State& state, Index n) {
    one_operand(state, n, [](auto const& x) { return x.exp(); });
  });
  at_all_sizes("tanh", [](State& state, Index n) {
    one_operand(state, n, [](auto const& x) { return x.tanh(); });
  });
  at_all_sizes("sigmoid", [](State& state, Index n) {
    one_operand(state, n, [](auto const& x) { return x.logistic(); });
  });
  at_all_sizes("silu", [](State& state, Index n) {
    one_operand(state, n, [](auto const& x) { return x * x.logistic(); });
  });
  at_all_sizes("gelu", [](State& state, Index n) {
    one_operand(state, n,
                [](auto const& x) { return x * (1.0F + (x * 0.70710678F).erf()) * 0.5F; });
  });
  at_all_sizes("sum", [](State& state, Index n) {
    reduction(state, n, [](auto const& x) { return x.sum(); });
  });
  at_all_sizes("max", [](State& state, Index n) {
    reduction(state, n, [](auto const& x) { return x.maxCoeff(); });
  });
  at_all_sizes("sum_rows", sum_rows);
  at_all_sizes("softmax", softmax);
  at_all_sizes("layer_norm", layer_norm);
  at_all_sizes("mse", mse);
  at_all_sizes("adam", adam);
  return true;
}();

}  // namespace
