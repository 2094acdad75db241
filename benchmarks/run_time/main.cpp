// SPDX-License-Identifier: MIT
// A program of benchmarks/run_time/compare.py: Google Benchmark's, with the bounds of the machine
// and the results of rows.
#include <tessera/tessera.hpp>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "reads.hpp"
#include "results.hpp"

#include <benchmark/benchmark.h>

using namespace tessera;
using benchmark::State;

namespace {

/// Fused multiply-adds without memory: 12 independent sums, which stay in registers; items are
/// floating-point operations.
template <class T> void peak(State& state) {
  using V = lane::pack<T>;
  constexpr auto sums = std::size_t{12};
  V sum[sums];
  for (auto& s : sum) s = V(T{1});
  auto factor = V(static_cast<T>(0.999));
  auto term = V(static_cast<T>(0.001));
  benchmark::DoNotOptimize(factor);
  benchmark::DoNotOptimize(term);
  for (auto _ : state) {
    for (auto i = 0; i < 100; ++i) {
#pragma GCC unroll 12
      for (auto k = std::size_t{0}; k < sums; ++k) sum[k] = fma(sum[k], factor, term);
    }
#pragma GCC unroll 12
    for (auto k = std::size_t{0}; k < sums; ++k) benchmark::DoNotOptimize(sum[k]);
  }
  state.SetItemsProcessed(state.iterations() *
                          static_cast<std::int64_t>(100 * sums * V::width * 2));
}
BENCHMARK(peak<float>)->Name("peak/f32");
BENCHMARK(peak<double>)->Name("peak/f64");

/// Reads of a block again and again, 64 KiB or more in turn: what a step must do with weights of
/// that size, which is rounded up to eight vectors.
void read(State& state) {
  auto const asked = static_cast<std::size_t>(state.range(0)) / sizeof(float);
  auto const n =
      (asked + plain_reads::together - 1) / plain_reads::together * plain_reads::together;
  auto const bytes = n * sizeof(float);
  auto const passes = bytes < 65536 ? 65536 / bytes : std::size_t{1};
  auto const memory = std::make_unique<float[]>(n + 64);
  for (auto _ : state)
    for (auto pass = std::size_t{0}; pass < passes; ++pass) {
      plain_reads::all_of({memory.get(), n});
      benchmark::ClobberMemory();
    }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(bytes * passes));
}
BENCHMARK(read)->RangeMultiplier(2)->Range(1 << 11, 1 << 29);

/// `--read=<bytes>` adds a block of that size; what is left are the library's arguments.
auto take_reads(int argc, char** argv) -> int {
  constexpr auto option = std::string_view{"--read="};
  auto left = 1;
  for (auto i = 1; i < argc; ++i)
    if (std::string_view{argv[i]}.starts_with(option))
      benchmark::RegisterBenchmark("read", read)->Arg(std::atoll(argv[i] + option.size()));
    else
      argv[left++] = argv[i];
  return left;
}

auto write_results(char const* file, char const* row) -> int {
  auto const known = results::rows().find(row);
  if (known == results::rows().end()) {
    std::fprintf(stderr, "row %s does not tell its results\n", row);
    return 2;
  }
  known->second(file);
  return 0;
}

}  // namespace

auto main(int argc, char** argv) -> int {
  if (argc == 4 && std::string_view{argv[1]} == "--results") return write_results(argv[2], argv[3]);
  argc = take_reads(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
