// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/transpose.hpp>

#include <cstddef>

namespace tessera::detail::inline TESSERA_TARGET {

/// The products of a vector of outputs with one row: their weights lie in rows, and are turned a
/// cache line of each at a time. What lies behind them is fetched meanwhile, in its order, since
/// rows side by side are too many streams for a processor to foresee.
///
/// Accuracy  from the bias over In ascending, one fma each
template <class T>
[[nodiscard]] auto outputs_of_row(std::size_t in, T const* x, T const* weights, lane::pack<T> sum)
    -> lane::pack<T> {
  constexpr auto width = lane::pack<T>::width;
  constexpr auto line = std::size_t{64} / sizeof(T);
  auto const* behind = weights + width * in;
  auto k = std::size_t{0};
  for (; k + line <= in; k += line) {
#pragma GCC unroll 16
    for (auto r = std::size_t{0}; r < width; ++r, behind += line)
      __builtin_prefetch(behind, 0, width * sizeof(T) > 32 ? 2 : 3);
    lane::for_columns_of_line(weights + k, in,
                              [&](std::size_t c, auto const& columns) TESSERA_INLINE {
#pragma GCC unroll 4
                                for (auto i = std::size_t{0}; i < lane::columns_at_once<T>; ++i)
                                  sum = fma(lane::pack<T>(x[k + c + i]), columns[i], sum);
                              });
  }
  for (; k < in; ++k) {
    T column[width];
    for (auto r = std::size_t{0}; r < width; ++r) column[r] = weights[r * in + k];
    sum = fma(lane::pack<T>(x[k]), lane::load(column), sum);
  }
  return sum;
}

/// y = b + W·x for one row, with at least a vector of outputs: reads the weights once.
template <class T>
void affine_map_row(std::size_t in, std::size_t out, T const* x, T const* weights, T const* bias,
                    T* y) {
  constexpr auto width = lane::pack<T>::width;
  for (auto o = std::size_t{0}; o < out; o += width) {
    auto const first = out - o < width ? out - width : o;  // the last ones may be computed twice
    auto const start = bias == nullptr ? lane::pack<T>(T{0}) : lane::load(bias + first);
    lane::store(y + first, outputs_of_row(in, x, weights + first * in, start));
  }
}

}  // namespace tessera::detail::inline TESSERA_TARGET
