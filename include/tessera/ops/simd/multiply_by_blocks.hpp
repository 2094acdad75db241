// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/simd/multiply.hpp>

#include <cstddef>
#include <cstring>

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

/// The block of B at (k, column) by panels of a tile's columns.
template <class T>
void copy_panels(product<T> const& p, std::size_t k, std::size_t depth, std::size_t column,
                 std::size_t columns, T* to) {
  constexpr auto wide = vectors * lane::pack<T>::width;
  for (auto c = std::size_t{0}; c < columns; c += wide)
    for (auto i = std::size_t{0}; i < depth; ++i, to += wide)
      std::memcpy(to, p.b + (k + i) * p.b_depth + column + c,
                  (columns - c < wide ? columns - c : wide) * sizeof(T));
}

/// A block of all columns that `b` holds, block by block of rows; A is copied where it is
/// transposed, as the rows of another are read as they lie.
template <class T>
void multiply_block(product<T> const& p, std::size_t k, std::size_t depth, std::size_t column,
                    std::size_t columns, T const* b) {
  constexpr auto wide = vectors * lane::pack<T>::width;
  auto const copies = p.a_row == 1;
  alignas(64) T a[block_depth<T> * block_rows];
  for (auto row = std::size_t{0}; row < p.rows; row += block_rows) {
    auto const rest = p.rows - row;
    auto block = product<T>{rest < block_rows ? rest : +block_rows,
                            wide,
                            depth,
                            p.a + row * p.a_row + k * p.a_depth,
                            p.a_row,
                            p.a_depth,
                            b,
                            wide,
                            p.c + row * p.c_row + column,
                            p.c_row,
                            k == 0 ? p.from : start::c,
                            p.bias == nullptr ? nullptr : p.bias + column};
    if (copies) {
      for (auto i = std::size_t{0}; i < depth; ++i)
        std::memcpy(a + i * block_rows, block.a + i * p.a_depth, block.rows * sizeof(T));
      block.a = a;
      block.a_depth = block_rows;
    }
    for (auto c = std::size_t{0}; c < columns; c += wide) {
      block.columns = columns - c < wide ? columns - c : wide;
      multiply<T>(block);
      block.b += depth * wide;
      block.c += wide;
      if (block.bias != nullptr) block.bias += wide;
    }
  }
}

/// `multiply`, block by block: the same bits, as the sums go on in C over k ascending.
///
/// Cost  copies B once, and a transposed A once for every 128 columns; 84 KiB of stack
template <class T> void multiply_by_blocks(product<T> const& p) {
  alignas(64) T b[block_depth<T> * block_columns];
  for (auto column = std::size_t{0}; column < p.columns; column += block_columns) {
    auto const right = p.columns - column;
    auto const columns = right < block_columns ? right : +block_columns;
    for (auto k = std::size_t{0}; k < p.depth; k += block_depth<T>) {
      auto const below = p.depth - k;
      auto const depth = below < block_depth<T> ? below : +block_depth<T>;
      copy_panels(p, k, depth, column, columns, b);
      multiply_block(p, k, depth, column, columns, b);
    }
  }
}

}  // namespace tessera::tiles::inline TESSERA_TARGET
