// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/reference/matmul.hpp>
#include <tessera/ops/simd/multiply.hpp>

#include <type_traits>

namespace tessera {

template <> struct kernel<detail::matmul_fn, simd> {
  template <class T>
  static constexpr void run(std::size_t rows, std::size_t columns, std::size_t depth, T const* a,
                            T const* b, T* y) {
    if (std::is_constant_evaluated())
      return kernel<detail::matmul_fn, reference>::run(rows, columns, depth, a, b, y);
    tile::multiply<T>(
        {rows, columns, depth, a, depth, 1, b, columns, y, columns, tile::start::zero, nullptr});
  }
  template <class T>
  static constexpr void left(std::size_t rows, std::size_t columns, std::size_t depth, T const* dy,
                             T const* b, T* da) {
    if (std::is_constant_evaluated())
      return kernel<detail::matmul_fn, reference>::left(rows, columns, depth, dy, b, da);
    constexpr auto side = std::size_t{32};  // of a square of b, transposed
    T square[side * side];
    for (auto c = std::size_t{0}; c < columns; c += side) {
      auto const width = columns - c < side ? columns - c : side;
      for (auto k = std::size_t{0}; k < depth; k += side) {
        auto const height = depth - k < side ? depth - k : side;
        for (auto i = std::size_t{0}; i < height; ++i)
          for (auto j = std::size_t{0}; j < width; ++j)
            square[j * side + i] = b[(k + i) * columns + c + j];
        tile::multiply<T>({rows, height, width, dy + c, columns, 1, square, side, da + k, depth,
                           tile::start::c, nullptr});
      }
    }
  }
  template <class T>
  static constexpr void right(std::size_t rows, std::size_t columns, std::size_t depth, T const* a,
                              T const* dy, T* db) {
    if (std::is_constant_evaluated())
      return kernel<detail::matmul_fn, reference>::right(rows, columns, depth, a, dy, db);
    tile::multiply<T>(
        {depth, columns, rows, a, 1, depth, dy, columns, db, columns, tile::start::c, nullptr});
  }
};

}  // namespace tessera
