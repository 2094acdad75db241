// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/transpose.hpp>
#include <tessera/ops/simd/multiply.hpp>

#include <concepts>
#include <cstddef>

/// The product of tiles on matrices that caches do not hold as they lie.
namespace tessera::tiles::inline TESSERA_TARGET {

/// A block of B, (block_depth, panel), is copied in the order in which tiles read it: 32 KiB, which
/// stay beside the tile's rows of A; as many rows of A are read again and again from the second
/// level, in which they take block_bytes at most.
inline constexpr std::size_t block_depth = 128;
inline constexpr std::size_t block_bytes = std::size_t{1} << 19U;
/// Sizes in bytes from which copying costs less than reading what does not stay in a cache: a
/// transposed A, of whose rows every number is a cache line of its own; and B.
inline constexpr std::size_t far_apart = std::size_t{1} << 18U;
inline constexpr std::size_t large = std::size_t{1} << 20U;

template <class T> [[nodiscard]] constexpr auto is_transposed(product<T> const& p) -> bool {
  return p.a_row == 1 && p.a_depth != 1;
}
template <class T> [[nodiscard]] constexpr auto gains_by_blocks(product<T> const& p) -> bool {
  return p.rows >= 4 * rows && p.columns >= lane::pack<T>::width && p.depth > block_depth &&
         p.from != start::c_last &&
         ((is_transposed(p) && p.rows * p.depth * sizeof(T) >= far_apart) ||
          (p.rows >= block_depth && p.depth * p.b_depth * sizeof(T) >= large));
}

/// The rows of a block of A. Rows at a distance, not columns, are taken a quarter: a distance may
/// be one that a cache has few places for.
template <class T> [[nodiscard]] constexpr auto rows_of_block(product<T> const& p) -> std::size_t {
  auto const most = block_bytes / block_depth / sizeof(T);
  return (is_transposed(p) ? most : most / 4) / rows * rows;
}

/// B as it lies, its rows `row` apart; it may be stored narrower.
template <class T, class Stored = T> struct rows_of_b {
  Stored const* data;
  std::size_t row;
  [[no_unique_address]] weight_scales<T, is_scaled<Stored>> scales{};

  /// The block at (k, column), by panels of a tile's columns.
  void copy(std::size_t k, std::size_t depth, std::size_t column, std::size_t columns,
            T* to) const {
    constexpr auto width = lane::pack<T>::width;
    for (auto c = std::size_t{0}; c < columns; c += vectors * width) {
      auto const* from = data + k * row + column + c;
      auto const wide = columns - c < vectors * width ? columns - c : vectors * width;
      for (auto i = std::size_t{0}; i < depth; ++i, from += row, to += vectors * width) {
        auto v = std::size_t{0};
        for (; v + width <= wide; v += width)
          lane::store(to + v, stored_vector<false>(from + v, scales, k + i, column + c + v, width));
        if (v < wide)
          lane::store(to + v,
                      stored_vector<true>(from + v, scales, k + i, column + c + v, wide - v));
      }
    }
  }
};
/// B by its columns, each contiguous: the weights of a layer, which may be stored narrower.
template <class T, class Stored> struct columns_of_b {
  weight_matrix<T, Stored> matrix;

  void copy(std::size_t k, std::size_t depth, std::size_t column, std::size_t columns,
            T* to) const {
    for (auto c = std::size_t{0}; c < columns; c += panel, to += depth * panel) {
      auto const wide = columns - c < panel ? columns - c : panel;
      if constexpr (std::same_as<T, Stored>)
        lane::copy_turned(wide, depth, matrix.data + (column + c) * matrix.column + k,
                          matrix.column, to, panel);
      else
        copy_widened(k, depth, column + c, wide, to);
    }
  }

 private:
  static constexpr auto panel = vectors * lane::pack<T>::width;

  /// A few columns at a time, widened before they are turned.
  void copy_widened(std::size_t k, std::size_t depth, std::size_t column, std::size_t columns,
                    T* to) const {
    constexpr auto width = lane::pack<T>::width;
    alignas(64) T widened[width * block_depth];
    for (auto c = std::size_t{0}; c < columns; c += width) {
      auto const count = columns - c < width ? columns - c : +width;
      for (auto i = std::size_t{0}; i < count; ++i)
        widen(depth, k, column + c + i, widened + i * block_depth);
      lane::copy_turned(count, depth, widened, block_depth, to + c, panel);
    }
  }
  void widen(std::size_t depth, std::size_t k, std::size_t column, T* to) const {
    constexpr auto width = lane::pack<T>::width;
    auto const* const from = matrix.data + column * matrix.column + k;
    auto const scales = matrix.scales.transposed();  // what is a column of B is a row here
    auto i = std::size_t{0};
    for (; i + width <= depth; i += width)
      lane::store(to + i, stored_vector<false>(from + i, scales, column, k + i, width));
    if (i < depth)
      lane::store_first(to + i, stored_vector<true>(from + i, scales, column, k + i, depth - i),
                        depth - i);
  }
};

/// Rows and a panel of columns of C, with a depth whose block of B is copied.
template <class T>
void multiply_block(product<T> const& p, std::size_t row, std::size_t k, std::size_t depth,
                    std::size_t column, std::size_t columns, T const* b) {
  constexpr auto wide = vectors * lane::pack<T>::width;
  auto const rest = p.rows - row;
  auto const most = rows_of_block(p);
  auto block = product<T>{rest < most ? rest : most,
                          wide,
                          depth,
                          depth == 0 ? p.a : p.a + row * p.a_row + k * p.a_depth,
                          p.a_row,
                          p.a_depth,
                          b,
                          wide,
                          p.c + row * p.c_row + column,
                          p.c_row,
                          k == 0 ? p.from : start::c,
                          p.bias == nullptr ? nullptr : p.bias + column};
  for (auto c = std::size_t{0}; c < columns; c += wide) {
    block.columns = columns - c < wide ? columns - c : wide;
    multiply<T>(block);
    block.b += depth * wide;
    block.c += wide;
    if (block.bias != nullptr) block.bias += wide;
  }
}

/// `multiply`, block by block: the same bits, as the sums go on in C over k ascending. With `sums`,
/// a number for each row of C, a transposed A adds its columns to them on the way.
///
/// Cost  copies B once for every block of rows; 32 KiB of stack
template <class T, class B>
void multiply_by_blocks(product<T> const& p, B const& matrix, T* sums = nullptr) {
  alignas(64) T b[block_depth * panel<T>];
  auto const block = [&](std::size_t row, std::size_t k, std::size_t column) {
    auto const below = p.depth - k;
    auto const depth = below < block_depth ? below : +block_depth;
    auto const right = p.columns - column;
    auto const columns = right < panel<T> ? right : +panel<T>;
    if (depth > 0) matrix.copy(k, depth, column, columns, b);  // without depth B may be null
    multiply_block(p, row, k, depth, column, columns, b);
  };
  auto const step = rows_of_block(p);
  if (p.rows <= step && p.rows * p.depth * sizeof(T) <= block_bytes) {
    // All of A stays in the cache: B is read in the order of its columns, C once.
    for (auto column = std::size_t{0}; column < p.columns; column += panel<T>)
      for (auto k = std::size_t{0}; k < p.depth || k == 0; k += block_depth) block(0, k, column);
    if (sums != nullptr) add_rows(p.depth, p.rows, p.a, p.a_depth, sums);
    return;
  }
  for (auto k = std::size_t{0}; k < p.depth || k == 0; k += block_depth) {
    for (auto row = std::size_t{0}; row < p.rows; row += step)
      for (auto column = std::size_t{0}; column < p.columns; column += panel<T>)
        block(row, k, column);
    auto const below = p.depth - k;
    if (sums != nullptr)
      add_rows(below < block_depth ? below : +block_depth, p.rows, p.a + k * p.a_depth, p.a_depth,
               sums);
  }
}
template <class T> void multiply_by_blocks(product<T> const& p, T* sums = nullptr) {
  multiply_by_blocks(p, rows_of_b<T>{p.b, p.b_depth, {}}, sums);
}

/// True where C has so few columns that vectors go along the rows of a transposed A instead.
template <class T> [[nodiscard]] constexpr auto is_narrow(product<T> const& p) -> bool {
  return is_transposed(p) && p.columns < lane::pack<T>::width && p.rows > p.columns &&
         p.from != start::bias;
}

/// Columns of C for rows [row, row + count), turned and back.
template <class T> void turn_c(product<T> const& p, std::size_t row, std::size_t count, T* turned) {
  for (auto i = std::size_t{0}; i < p.columns; ++i)
    for (auto r = std::size_t{0}; r < count; ++r)
      turned[i * panel<T> + r] = p.c[(row + r) * p.c_row + i];
}
template <class T>
void turn_back(product<T> const& p, std::size_t row, std::size_t count, T const* turned) {
  for (auto i = std::size_t{0}; i < p.columns; ++i)
    for (auto r = std::size_t{0}; r < count; ++r) {
      auto& number = p.c[(row + r) * p.c_row + i];
      auto const sum = turned[i * panel<T> + r];
      number = p.from == start::c_last ? number + sum : sum;
    }
}

/// `multiply` of a transposed A with few columns, as Cᵀ = Bᵀ·Aᵀ: the same bits; with `sums` as by
/// blocks.
template <class T> void multiply_narrow(product<T> const& p, T* sums = nullptr) {
  constexpr auto longest = 2 * block_depth;
  T c[lane::pack<T>::width * panel<T>];
  // What is added at the end has its sums in one piece, and what comes in runs.
  auto const whole = p.from == start::c_last || p.depth_runs.length != 0;
  auto const step = whole || p.depth < longest ? p.depth : +longest;
  for (auto k = std::size_t{0}; k < p.depth || k == 0; k += step) {
    auto const below = p.depth - k;
    auto const depth = below < step ? below : step;
    auto const goes_on = k > 0 || p.from == start::c;
    for (auto row = std::size_t{0}; row < p.rows; row += panel<T>) {
      auto const rest = p.rows - row;
      auto const count = rest < panel<T> ? rest : +panel<T>;
      if (goes_on) turn_c(p, row, count, c);
      auto const turned =
          product<T>{.rows = p.columns,
                     .columns = count,
                     .depth = depth,
                     .a = p.b + k * p.b_depth,
                     .a_row = 1,
                     .a_depth = p.b_depth,
                     .b = p.depth == 0 ? p.a : p.a + row + k * p.a_depth,
                     .b_depth = p.a_depth,
                     .c = c,
                     .c_row = panel<T>,
                     .from = goes_on ? start::c : start::zero,
                     .bias = nullptr,
                     .depth_runs = {p.depth_runs.length, p.depth_runs.other, p.depth_runs.a}};
      if (p.depth_runs.length != 0)
        multiply<T, T, true>(turned);
      else
        multiply<T>(turned);
      turn_back(p, row, count, c);
    }
    if (sums != nullptr) add_rows(depth, p.rows, p.a + k * p.a_depth, p.a_depth, sums);
    if (p.depth == 0) break;
  }
}

}  // namespace tessera::tiles::inline TESSERA_TARGET
