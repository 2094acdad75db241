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

/// `multiply`, block by block: the same bits, as the sums go on in C over k ascending.
///
/// Cost  copies B once, and a transposed A once for every 128 columns; 84 KiB of stack
template <class T> void multiply_by_blocks(product<T> const& p) {
  constexpr auto wide = vectors * lane::pack<T>::width;
  auto const least = [](std::size_t one, std::size_t other) { return one < other ? one : other; };
  auto const copies = p.a_row == 1;  // a transposed A; the rows of another are read as they lie
  alignas(64) T a[block_depth<T> * block_rows];
  alignas(64) T b[block_depth<T> * block_columns];
  for (auto first = std::size_t{0}; first < p.columns; first += block_columns) {
    auto const columns = least(block_columns, p.columns - first);
    for (auto k = std::size_t{0}; k < p.depth; k += block_depth<T>) {
      auto const depth = least(block_depth<T>, p.depth - k);
      for (auto c = std::size_t{0}; c < columns; c += wide)
        for (auto i = std::size_t{0}; i < depth; ++i)
          std::memcpy(b + c * depth + i * wide, p.b + (k + i) * p.b_depth + first + c,
                      least(wide, columns - c) * sizeof(T));
      for (auto row = std::size_t{0}; row < p.rows; row += block_rows) {
        auto const height = least(block_rows, p.rows - row);
        auto const* const rows_of_a = p.a + row * p.a_row + k * p.a_depth;
        if (copies)
          for (auto i = std::size_t{0}; i < depth; ++i)
            std::memcpy(a + i * block_rows, rows_of_a + i * p.a_depth, height * sizeof(T));
        for (auto c = std::size_t{0}; c < columns; c += wide)
          multiply<T>({height, least(wide, columns - c), depth, copies ? a : rows_of_a, p.a_row,
                       copies ? block_rows : p.a_depth, b + c * depth, wide,
                       p.c + row * p.c_row + first + c, p.c_row, k == 0 ? p.from : start::c,
                       p.bias == nullptr ? nullptr : p.bias + first + c});
      }
    }
  }
}

}  // namespace tessera::tiles::inline TESSERA_TARGET
