// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/device.hpp>
#include <tessera/core/lane.hpp>

namespace tessera::device {

/// A matrix by the distances of its rows and columns.
template <class T> struct matrix {
  T const* data;
  std::size_t row;
  std::size_t column;
};
enum class start { zero, bias, y };

/// y = start + a·b, by tiles of 32·32 outputs: the tiles of a and b go through shared memory, a
/// thread has 4 outputs and adds over the depth ascending, one fma each, as `reference` does.
///
/// Shapes  a (rows, depth), b (depth, columns), y (rows, columns), bias (columns)
/// Cost    depth·(1/32 + 1/32) reads of memory for each output
template <class T> struct product {
  static constexpr std::size_t threads = 256;
  static constexpr std::size_t tile = 32;
  static constexpr std::size_t own_rows = tile * tile / threads;
  struct shared {
    T a[tile][tile + 1];
    T b[tile][tile + 1];
  };
  struct registers {
    T sum[own_rows];
  };

  std::size_t rows;
  std::size_t columns;
  std::size_t depth;
  matrix<T> a;
  matrix<T> b;
  T* y;
  std::size_t y_row;
  start from;
  T const* bias;

  [[nodiscard]] constexpr auto tiles() const -> std::size_t {
    return (rows + tile - 1) / tile * ((columns + tile - 1) / tile);
  }
  [[nodiscard]] TESSERA_DEVICE constexpr auto phases() const -> std::size_t {
    return depth == 0 ? 2 : 2 * ((depth + tile - 1) / tile);
  }
  TESSERA_DEVICE void run(std::size_t phase, std::size_t block, std::size_t thread, shared& s,
                          registers& own) const {
    auto const across = (columns + tile - 1) / tile;
    auto const row = block / across * tile;
    auto const column = block % across * tile;
    auto const k = phase / 2 * tile;
    auto const my_column = column + thread % tile;
    if (phase == 0) {
      for (auto i = std::size_t{0}; i < own_rows; ++i) {
        auto const r = row + thread / tile + i * (threads / tile);
        own.sum[i] = r >= rows || my_column >= columns ? T{0}
                     : from == start::y                ? y[r * y_row + my_column]
                     : from == start::bias             ? bias[my_column]
                                                       : T{0};
      }
    }
    if (phase % 2 == 0) {
      load(s.a, a, row, k, rows, depth, thread);
      load(s.b, b, k, column, depth, columns, thread);
      return;
    }
    auto const n = depth - k < tile ? depth - k : tile;
    for (auto j = std::size_t{0}; j < n; ++j)
      for (auto i = std::size_t{0}; i < own_rows; ++i)
        own.sum[i] = lane::fma(s.a[thread / tile + i * (threads / tile)][j], s.b[j][thread % tile],
                               own.sum[i]);
    if (phase + 1 < phases()) return;
    for (auto i = std::size_t{0}; i < own_rows; ++i) {
      auto const r = row + thread / tile + i * (threads / tile);
      if (r < rows && my_column < columns) y[r * y_row + my_column] = own.sum[i];
    }
  }

 private:
  /// Next threads read next numbers, whichever way the matrix lies.
  TESSERA_DEVICE static void load(T (&to)[tile][tile + 1], matrix<T> const& m, std::size_t row,
                                  std::size_t column, std::size_t last_row, std::size_t last_column,
                                  std::size_t thread) {
    for (auto e = thread; e < tile * tile; e += threads) {
      auto const i = m.column == 1 ? e / tile : e % tile;
      auto const j = m.column == 1 ? e % tile : e / tile;
      auto const inside = row + i < last_row && column + j < last_column;
      to[i][j] = inside ? m.data[(row + i) * m.row + (column + j) * m.column] : T{0};
    }
  }
};

template <class T> void multiply(product<T> const& p) { current().launch(p, p.tiles()); }

}  // namespace tessera::device
