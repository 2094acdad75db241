// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/transpose.hpp>
#include <tessera/ops/simd/rows_ahead.hpp>
#include <tessera/ops/simd/turned_numbers.hpp>

#include <cstddef>

namespace tessera::detail::inline TESSERA_TARGET {

/// The products of a vector of outputs with one row: their weights lie in rows, and are turned a
/// cache line of each at a time.
///
/// Accuracy  from the bias over In ascending, one fma each
template <bool Near, class T>
[[nodiscard]] auto outputs_of_row(std::size_t in, T const* x, T const* weights, lane::pack<T> sum)
    -> lane::pack<T> {
  constexpr auto width = lane::pack<T>::width;
  constexpr auto line = std::size_t{64} / sizeof(T);
  auto const ahead = rows_ahead<T>(in * sizeof(T));
  auto k = std::size_t{0};
  for (; k + line <= in; k += line) {
    ahead.template fetch<Near>(weights, k * sizeof(T));
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
  auto const fits = rows_ahead<T>(in * sizeof(T)).fits_first_level();
  for (auto o = std::size_t{0}; o < out; o += width) {
    auto const first = out - o < width ? out - width : o;  // the last ones may be computed twice
    auto const start = bias == nullptr ? lane::pack<T>(T{0}) : lane::load(bias + first);
    auto const* const rows = weights + first * in;
    lane::store(y + first, fits ? outputs_of_row<true>(in, x, rows, start)
                                : outputs_of_row<false>(in, x, rows, start));
  }
}

/// Some rows of y = b + x·Wᵀ, of weights in 16 bits or in blocks: reads them once. Rows of x are
/// `in` apart.
template <std::size_t Rows, class Stored> struct affine_map_turned {
  using V = lane::pack<float>;
  using turned = turned_numbers<Stored>;
  static constexpr auto width = V::width;

  std::size_t in;
  float const* x;
  weight_matrix<float, Stored> const& weights;
  float const* bias;
  float* y;
  std::size_t y_row;

  [[gnu::noinline]] void run(std::size_t out) const {
    auto o = std::size_t{0};
    for (; o + width <= out; o += width) vector(o);
    for (; o < out; ++o)
      for (auto r = std::size_t{0}; r < Rows; ++r) {
        auto sum = bias == nullptr ? 0.0F : bias[o];
        for (auto k = std::size_t{0}; k < in; ++k)
          sum = lane::fma(x[r * in + k], weights.at(o, k), sum);
        y[r * y_row + o] = sum;
      }
  }

 private:
  TESSERA_INLINE void vector(std::size_t o) const {
    constexpr auto bytes = turned::length / numbers_of_stored<Stored> * sizeof(Stored);
    V sum[Rows];
    for (auto& s : sum) s = bias == nullptr ? V(0.0F) : lane::load(bias + o);
    auto const* const from = row_of(o);
    auto k = std::size_t{0};
    for (; k + turned::length <= in; k += turned::length) {
      auto const at = k / numbers_of_stored<Stored>;
      fetch_ahead<width * bytes>(from + at * width, in / turned::length * bytes);
      auto const numbers = turned(from + at, weights.row);
#pragma GCC unroll 32
      for (auto j = std::size_t{0}; j < turned::length; ++j) add(k + j, numbers[j], sum);
    }
    for (; k < in; ++k) {
      float column[width];
      for (auto i = std::size_t{0}; i < width; ++i) column[i] = weights.at(o + i, k);
      add(k, lane::load(column), sum);
    }
    for (auto r = std::size_t{0}; r < Rows; ++r) lane::store(y + r * y_row + o, sum[r]);
  }
  TESSERA_INLINE void add(std::size_t k, V numbers, V (&sum)[Rows]) const {
#pragma GCC unroll 4
    for (auto r = std::size_t{0}; r < Rows; ++r) sum[r] = fma(V(x[r * in + k]), numbers, sum[r]);
  }
  [[nodiscard]] auto row_of(std::size_t o) const {
    if constexpr (is_block<Stored>)
      return weights.blocks_of_row(o);
    else
      return weights.data + o * weights.row;
  }
};

/// The same of any number of rows, four at a time.
template <class Stored>
void affine_map_by_turning(std::size_t rows, std::size_t in, std::size_t out, float const* x,
                           // NOLINTNEXTLINE(readability-non-const-parameter): written
                           weight_matrix<float, Stored> const& weights, float const* bias, float* y,
                           std::size_t y_row) {
  for (; rows >= 4; rows -= 4, x += 4 * in, y += 4 * y_row)
    affine_map_turned<4, Stored>{in, x, weights, bias, y, y_row}.run(out);
  if (rows == 3) affine_map_turned<3, Stored>{in, x, weights, bias, y, y_row}.run(out);
  if (rows == 2) affine_map_turned<2, Stored>{in, x, weights, bias, y, y_row}.run(out);
  if (rows == 1) affine_map_turned<1, Stored>{in, x, weights, bias, y, y_row}.run(out);
}

}  // namespace tessera::detail::inline TESSERA_TARGET
