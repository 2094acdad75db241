// SPDX-License-Identifier: MIT
// The rows of elementwise.cpp as one writes them with Eigen, from the same numbers.
#include <cmath>
#include <string>

#include "elementwise.hpp"

#include <benchmark/benchmark.h>
#include <unsupported/Eigen/SpecialFunctions>

using benchmark::State;

namespace {

using Eigen::Index;
using told = elementwise::numbers;
using numbers = Eigen::ArrayXf;
using rows = Eigen::Array<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

constexpr auto features = Index{256};

// Copies, which lie as Eigen aligns them.
[[nodiscard]] auto array(told const& given, char const* name) -> numbers {
  auto const& values = given.at(name);
  return Eigen::Map<numbers const>(values.data(), static_cast<Index>(values.size()));
}
[[nodiscard]] auto matrix(told const& given) -> rows {
  auto const& values = given.at("x");
  return Eigen::Map<rows const>(values.data(), static_cast<Index>(values.size()) / features,
                                features);
}
/// True where y is Tessera's result, but for rounding.
[[nodiscard]] auto agrees(told const& given, float const* y) -> bool {
  auto const result = array(given, "result");
  auto const off = (Eigen::Map<numbers const>(y, result.size()) - result).abs().maxCoeff();
  return off < 1e-3F * result.abs().maxCoeff();
}

/// Steps that leave their result in y; the first one is held against Tessera's.
template <class Y, class F> void repeat(State& state, told const& given, Y const& y, F f) {
  f();
  if (not agrees(given, y.data())) return state.SkipWithError("differs from Tessera's result");
  for (auto _ : state) {
    f();
    benchmark::ClobberMemory();
  }
}
template <class F> void one_operand(State& state, told const& given, F f) {
  auto const x = array(given, "a");
  auto y = numbers(x.size());
  repeat(state, given, y, [&] { y = f(x); });
}
template <class F> void reduction(State& state, told const& given, F f) {
  auto const x = array(given, "x");
  auto const first = float{f(x)};
  if (not agrees(given, &first)) return state.SkipWithError("differs from Tessera's result");
  for (auto _ : state) {
    auto y = f(x);
    benchmark::DoNotOptimize(y);
  }
}

void chain(State& state, told const& given) {
  auto const a = array(given, "a");
  auto const b = array(given, "b");
  auto const c = array(given, "c");
  auto y = numbers(a.size());
  repeat(state, given, y, [&] { y = (a * b + c) * 0.5F - a.max(c); });
}
void sum_rows(State& state, told const& given) {
  auto const x = matrix(given);
  auto y = Eigen::Array<float, 1, Eigen::Dynamic>(features);
  repeat(state, given, y, [&] { y = x.colwise().sum(); });
}
void softmax(State& state, told const& given) {
  auto const x = matrix(given);
  auto y = rows(x.rows(), features);
  repeat(state, given, y, [&] {
    for (auto r = Index{0}; r < x.rows(); ++r) {
      y.row(r) = (x.row(r) - x.row(r).maxCoeff()).exp();
      y.row(r) *= 1.0F / y.row(r).sum();
    }
  });
}
void layer_norm(State& state, told const& given) {
  auto const x = matrix(given);
  auto const weight = Eigen::Array<float, 1, Eigen::Dynamic>(array(given, "weight").transpose());
  auto const bias = Eigen::Array<float, 1, Eigen::Dynamic>(array(given, "bias").transpose());
  auto y = rows(x.rows(), features);
  repeat(state, given, y, [&] {
    for (auto r = Index{0}; r < x.rows(); ++r) {
      auto const mean = x.row(r).mean();
      auto const variance = (x.row(r) - mean).square().mean();
      y.row(r) = (x.row(r) - mean) * (1.0F / std::sqrt(variance + 1e-5F)) * weight + bias;
    }
  });
}
void mse(State& state, told const& given) {
  auto const y = array(given, "x");
  auto const target = array(given, "target");
  auto dy = numbers(y.size());
  auto const scale = 1.0F / static_cast<float>(y.size());
  repeat(state, given, dy, [&] {
    dy = (y - target) * (2 * scale);
    auto loss = (y - target).square().sum() * scale;
    benchmark::DoNotOptimize(loss);
  });
}
void adam(State& state, told const& given) {
  auto p = array(given, "p");
  auto const g = array(given, "gradient");
  auto first = numbers(numbers::Zero(p.size()));
  auto second = numbers(numbers::Zero(p.size()));
  auto power_1 = 1.0;
  auto power_2 = 1.0;
  repeat(state, given, p, [&] {
    power_1 *= 0.9;
    power_2 *= 0.999;
    auto const step = static_cast<float>(1e-3 / (1 - power_1));
    auto const correction = static_cast<float>(std::sqrt(1 - power_2));
    first += (g - first) * 0.1F;
    second = second * 0.999F + g.square() * 0.001F;
    p -= step * first / (second.sqrt() / correction + 1e-8F);
  });
}

void at_all_sizes(std::string const& name, void (*row)(State&, told const&)) {
  for (auto const size : {"/16KB", "/256KB", "/64MB"})
    benchmark::RegisterBenchmark(("eigen/" + name + size).c_str(),
                                 [=](State& state) { row(state, elementwise::told(name + size)); });
}

[[maybe_unused]] auto const registered = [] {
  at_all_sizes("chain", chain);
  at_all_sizes("exp", [](State& state, told const& given) {
    one_operand(state, given, [](auto const& x) { return x.exp(); });
  });
  at_all_sizes("tanh", [](State& state, told const& given) {
    one_operand(state, given, [](auto const& x) { return x.tanh(); });
  });
  at_all_sizes("sigmoid", [](State& state, told const& given) {
    one_operand(state, given, [](auto const& x) { return x.logistic(); });
  });
  at_all_sizes("silu", [](State& state, told const& given) {
    one_operand(state, given, [](auto const& x) { return x * x.logistic(); });
  });
  at_all_sizes("gelu", [](State& state, told const& given) {
    one_operand(state, given,
                [](auto const& x) { return x * (1.0F + (x * 0.70710678F).erf()) * 0.5F; });
  });
  at_all_sizes("sum", [](State& state, told const& given) {
    reduction(state, given, [](auto const& x) { return x.sum(); });
  });
  at_all_sizes("max", [](State& state, told const& given) {
    reduction(state, given, [](auto const& x) { return x.maxCoeff(); });
  });
  at_all_sizes("sum_rows", sum_rows);
  at_all_sizes("softmax", softmax);
  at_all_sizes("layer_norm", layer_norm);
  at_all_sizes("mse", mse);
  at_all_sizes("adam", adam);
  return true;
}();

}  // namespace
