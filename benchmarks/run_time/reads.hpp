// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/pack.hpp>

#include <cstddef>
#include <span>

#include <benchmark/benchmark.h>

/// Reads of memory without work: the bound of a step that reads as much.
namespace plain_reads {

/// Numbers that are added side by side.
inline constexpr auto together = 8 * tessera::lane::pack<float>::width;

/// Adds up all numbers but those behind the last whole `together`.
[[gnu::always_inline]] inline void all_of(std::span<float const> numbers) {
  using V = tessera::lane::pack<float>;
  V sum[8];
  for (auto& s : sum) s = V(0.0F);
  for (auto i = std::size_t{0}; i + together <= numbers.size(); i += together) {
#pragma GCC unroll 8
    for (auto k = std::size_t{0}; k < 8; ++k)
      sum[k] = sum[k] + tessera::lane::load(numbers.data() + i + k * V::width);
  }
  for (auto& s : sum) benchmark::DoNotOptimize(s);
}

}  // namespace plain_reads
