// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/simd/multiply.hpp>

#include <algorithm>
#include <cstddef>
#include <type_traits>

/// The product of tiles on matrices that no cache holds as they lie.
namespace tessera::tiles::inline TESSERA_TARGET {

/// A block of A, (block_rows, block_depth), and one of B, (block_depth, block_columns), in the
/// order in which tiles read them: 36 and 48 KiB, for a cache of the second level.
inline constexpr std::size_t block_rows = 96;
inline constexpr std::size_t block_columns = 128;
template <class T> inline constexpr std::size_t block_depth = 384 / sizeof(T);

/// What no cache of the second level holds beside the rest, in bytes.
inline constexpr std::size_t far_apart = std::size_t{1} << 21U;

/// True where copying blocks costs less than reading again and again what does not stay in a cache:
/// a large B, or a large transposed A, of whose rows every number is a cache line of its own.
template <class T> [[nodiscard]] constexpr auto gains_by_blocks(product<T> const& p) -> bool {
  auto const transposed = p.a_row == 1 && p.a_depth != 1;
  return p.rows >= block_rows && p.columns >= vectors * lane::pack<T>::width &&
         p.depth >= 2 * block_depth<T> && p.from != start::c_last &&
         ((transposed && p.rows * p.depth * sizeof(T) >= far_apart) ||
          p.depth * p.b_depth * sizeof(T) >= far_apart);
}

/// `multiply`, block by block: the same bits, as the sums go on in C over k ascending.
///
/// Cost  copies B once, and A once for every 128 columns; 84 KiB of stack
template <class T> void multiply_by_blocks(product<T> const& p) {
  constexpr auto width = lane::pack<T>::width;
  constexpr auto wide = vectors * width;
  alignas(64) T a[block_rows * block_depth<T>];
  alignas(64) T b[block_columns * block_depth<T>];
  for (auto first = std::size_t{0}; first < p.columns; first += block_columns) {
    auto const columns = std::min(block_columns, p.columns - first);
    for (auto k = std::size_t{0}; k < p.depth; k += block_depth<T>) {
      auto const depth = std::min(block_depth<T>, p.depth - k);
      for (auto c = std::size_t{0}; c < columns; c += wide) {
        auto const count = std::min(wide, columns - c);
        for (auto i = std::size_t{0}; i < depth; ++i)
          std::copy_n(p.b + (k + i) * p.b_depth + first + c, count, b + c * depth + i * wide);
      }
      for (auto row = std::size_t{0}; row < p.rows; row += block_rows) {
        auto const height = std::min(block_rows, p.rows - row);
        for_each_tile_row(height, [&]<std::size_t Rows>(std::size_t r) {
          auto const* from = p.a + (row + r) * p.a_row + k * p.a_depth;
          auto* to = a + r * depth;
          for (auto i = std::size_t{0}; i < depth; ++i, from += p.a_depth, to += Rows)
            for (auto j = std::size_t{0}; j < Rows; ++j) to[j] = from[j * p.a_row];
        });
        for (auto c = std::size_t{0}; c < columns; c += wide) {
          auto const count = std::min(wide, columns - c);
          for_each_tile_row(height, [&]<std::size_t Rows>(std::size_t r) {
            auto const tile = product<T>{.rows = Rows,
                                         .columns = count,
                                         .depth = depth,
                                         .a = a + r * depth,
                                         .a_row = 1,
                                         .a_depth = Rows,
                                         .b = b + c * depth,
                                         .b_depth = wide,
                                         .c = p.c + (row + r) * p.c_row + first + c,
                                         .c_row = p.c_row,
                                         .from = k == 0 ? p.from : start::c,
                                         .bias = p.bias == nullptr ? nullptr : p.bias + first + c};
            if (count == wide)
              one_tile<T, T, Rows, vectors, false>(tile, 0, 0, width);
            else
              multiply<T>(tile);
          });
        }
      }
    }
  }
}

}  // namespace tessera::tiles::inline TESSERA_TARGET
