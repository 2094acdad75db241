// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/third_level.hpp>
#include <tessera/backend/simd/transpose.hpp>
#include <tessera/ops/simd/multiply.hpp>
#include <tessera/ops/simd/turned_numbers.hpp>

#include <concepts>
#include <cstddef>

/// The product of tiles on matrices that caches do not hold as they lie.
namespace tessera::tiles::inline TESSERA_TARGET {

/// A block of B, (depth_of_block, panel) at most, is copied in the order in which tiles read it: 64
/// or 128 KiB in a second level with AVX-512, else 16 at most for the columns of a tile, in the
/// first one.
inline constexpr std::size_t block_depth = 256;
/// Whether a tile takes all columns of a panel.
inline constexpr bool tiles_take_panels = vectors * lane::pack<float>::width == panel<float>;
/// Where they do, and A is read in order, blocks are twice as deep: C is written half as often, and
/// rows of A are read in longer pieces.
inline constexpr std::size_t deepest_block = tiles_take_panels ? 2 * block_depth : block_depth;
/// The depth of a block of B. A transposed A, of whose rows every number is a line of its own,
/// stays in a second level beside C: before a far third level it is half as deep where its rows are
/// many.
[[nodiscard]] inline auto depth_of_block(bool is_transposed, std::size_t bytes_of_column,
                                         bool near_level = lane::third_level_is_near())
    -> std::size_t {
  if (not is_transposed) return deepest_block;
  auto const stays = vectors < 4 || near_level || bytes_of_column * block_depth <= block_bytes / 2;
  return stays ? block_depth : block_depth / 2;
}
/// Of rows and of depth: what is less is not worth a copy of a large B.
inline constexpr std::size_t few = 128;
/// The size in bytes from which copying costs less than reading what does not stay in a cache: of a
/// transposed A, of whose rows every number is a cache line of its own.
inline constexpr std::size_t far_apart = std::size_t{1} << 18U;

template <class T> [[nodiscard]] constexpr auto is_transposed(product<T> const& p) -> bool {
  return p.a_row == 1 && p.a_depth != 1;
}
/// Whether a cache has places for a panel of so many rows, `distance` numbers apart: it has few for
/// rows that are a multiple of a large power of two apart. A second level of 1 MiB has 16 lines for
/// each of the places in 64 KiB; a panel of more rows comes from the third one, which narrow tiles
/// wait for less than for twice as many.
template <class T>
[[nodiscard]] constexpr auto has_places(std::size_t depth, std::size_t distance) -> bool {
  constexpr auto way = std::size_t{1} << 16U;
  auto const bytes = (distance * sizeof(T)) | way;
  constexpr auto lines = vectors == 4 ? std::size_t{16} : std::size_t{32};
  return depth <= lines * (way / (bytes & (~bytes + 1)));
}
/// Whether a panel of B may be read where it lies, in a third level that is `near`. Narrow tiles
/// read a cache line of every page.
template <class T>
[[nodiscard]] auto stays_in_place(product<T> const& p,
                                  bool near_level = lane::third_level_is_near()) -> bool {
  return vectors == 4 && near_level && has_places<T>(p.depth, p.b_depth) &&
         p.depth * 256 <= block_bytes / 2;
}
/// From what size in bytes on a B is copied for many rows. Before a third level that is far away,
/// several panels that do not stay in the second one with A and C are worth it.
[[nodiscard]] inline auto least_copied(bool several_panels,
                                       bool near_level = lane::third_level_is_near())
    -> std::size_t {
  return vectors < 4 || near_level || not several_panels ? large : 3 * large / 8;
}
/// Whether so many rows are worth a copy of B, `depth` rows that lie `distance` bytes apart: a
/// first level holds a panel of the copy, but not as it lies.
[[nodiscard]] constexpr auto fits_if_copied(std::size_t count, std::size_t depth,
                                            std::size_t distance) -> bool {
  constexpr auto first_level = std::size_t{1} << 15U;
  constexpr auto panel_row = vectors * lane::pack<float>::width * sizeof(float);
  return vectors == 4 && count >= 4 * few && depth >= few / 4 && depth * panel_row <= first_level &&
         distance >= 1024;
}
template <class T>
[[nodiscard]] auto gains_by_blocks(product<T> const& p,
                                   bool near_level = lane::third_level_is_near()) -> bool {
  if (p.columns < lane::pack<T>::width || p.from == start::c_last) return false;
  if (not is_transposed(p) && fits_if_copied(p.rows, p.depth, p.b_depth * sizeof(T))) return true;
  return p.rows >= 4 * rows && p.depth > few &&
         ((is_transposed(p) && p.rows * p.depth * sizeof(T) >= far_apart) ||
          (p.rows >= few &&
           p.depth * p.b_depth * sizeof(T) >= least_copied(p.columns > panel<T>, near_level) &&
           not stays_in_place(p, near_level)));
}

/// The steps [k, k + depth) of a product.
template <class T>
[[nodiscard]] constexpr auto steps(product<T> p, std::size_t k, std::size_t depth) -> product<T> {
  p.a += k * p.a_depth;
  p.b += k * p.b_depth;
  p.depth = depth;
  return p;
}
/// The rows of a block of A, whose columns are those of a block of B. A transposed A stays in a
/// second level; another one is read in order, block of B by block, from a core's part of a third
/// level, which costs less than to copy B and to read C again for as many rows as a second level
/// holds. Narrow tiles take three eighths of a second level, of an A beyond that part: the distance
/// of rows may be one that a cache has few places for.
template <class T> [[nodiscard]] constexpr auto rows_of_block(product<T> const& p) -> std::size_t {
  constexpr auto most = block_bytes / block_depth / sizeof(T);
  if (is_transposed(p)) return part(p.rows, most, rows);
  if (vectors == 4) {
    auto const bytes = (p.depth < deepest_block ? p.depth + 1 : deepest_block) * sizeof(T);
    return part(p.rows, 3 * large / bytes, rows);
  }
  auto const all = p.rows * p.depth * sizeof(T) < 4 * large || 3 * most / 8 < few;
  return part(p.rows, all ? p.rows : 3 * most / 8, rows);
}

/// The part of B at (k, column).
struct block_of_b {
  std::size_t k;
  std::size_t depth;
  std::size_t column;
  std::size_t columns;
};

/// B as it lies, its rows `row` apart; it may be stored narrower.
template <class T, class Stored = T> struct rows_of_b {
  Stored const* data;
  std::size_t row;
  [[no_unique_address]] weight_scales<T, is_scaled<Stored>> scales{};

  /// The block, by panels of a tile's columns.
  void copy(block_of_b const& block, T* to) const {
    constexpr auto width = lane::pack<T>::width;
    for (auto c = std::size_t{0}; c < block.columns; c += vectors * width) {
      auto const* from = data + block.k * row + block.column + c;
      auto const wide = block.columns - c < vectors * width ? block.columns - c : vectors * width;
      for (auto i = std::size_t{0}; i < block.depth; ++i, from += row, to += vectors * width) {
        auto v = std::size_t{0};
        for (; v + width <= wide; v += width)
          lane::store(to + v, stored_vector<false>(from + v, scales, block.k + i,
                                                   block.column + c + v, width));
        if (v < wide)
          lane::store(to + v, stored_vector<true>(from + v, scales, block.k + i,
                                                  block.column + c + v, wide - v));
      }
    }
  }
  /// What is asked for of a block that is copied soon.
  [[nodiscard]] auto ahead(block_of_b const& block) const -> columns_ahead {
    if (block.depth == 0 || block.columns == 0) return {};
    return {data + block.k * row + block.column, row * sizeof(Stored),
            block.columns * sizeof(Stored)};
  }
};
/// B by its columns, each contiguous: the weights of a layer, which may be stored narrower.
template <class T, class Stored> struct columns_of_b {
  weight_matrix<T, Stored> matrix;

  void copy(block_of_b const& block, T* to) const {
    auto const& [k, depth, column, columns] = block;
    for (auto c = std::size_t{0}; c < columns; c += panel, to += depth * panel) {
      auto const wide = columns - c < panel ? columns - c : panel;
      if constexpr (std::same_as<T, Stored>)
        lane::copy_turned(wide, depth, matrix.data + (column + c) * matrix.column + k,
                          matrix.column, to, panel);
      else if constexpr (detail::is_turned<T, Stored>)
        copy_by_turning(block_of_b{k, depth, column + c, wide}, to);
      else
        copy_widened(k, depth, column + c, wide, to);
    }
  }
  static auto ahead(block_of_b const&) -> columns_ahead { return {}; }  // turning asks

 private:
  static constexpr auto panel = vectors * lane::pack<T>::width;

  /// What begins with whole blocks, where it lies in blocks.
  void copy_by_turning(block_of_b const& block, T* to) const {
    using turned = detail::turned_numbers<Stored>;
    constexpr auto width = lane::pack<T>::width;
    auto const whole = block.depth / turned::length * turned::length;
    auto c = std::size_t{0};
    for (; c + width <= block.columns; c += width) {
      auto const* const from = place(block.k, block.column + c);
      for (auto i = std::size_t{0}; i < whole; i += turned::length) {
        auto const numbers = turned(from + i / numbers_of_stored<Stored>, matrix.column);
#pragma GCC unroll 32
        for (auto j = std::size_t{0}; j < turned::length; ++j)
          lane::store(to + (i + j) * panel + c, numbers[j]);
      }
      copy_numbers(block, whole, c, c + width, to);
    }
    copy_numbers(block, 0, c, block.columns, to);
  }
  void copy_numbers(block_of_b const& block, std::size_t first, std::size_t c, std::size_t last,
                    T* to) const {
    for (auto i = first; i < block.depth; ++i)
      for (auto j = c; j < last; ++j) to[i * panel + j] = matrix.at(block.k + i, block.column + j);
  }
  [[nodiscard]] auto place(std::size_t k, std::size_t column) const -> Stored const* {
    if constexpr (is_block<Stored>)
      return matrix.data + (matrix.first + column * matrix.column + k) / numbers_of_stored<Stored>;
    else
      return matrix.data + column * matrix.column + k;
  }
  /// A few columns and a part of the depth at a time, widened before they are turned.
  void copy_widened(std::size_t k, std::size_t depth, std::size_t column, std::size_t columns,
                    T* to) const {
    constexpr auto width = lane::pack<T>::width;
    constexpr auto longest = std::size_t{64};
    alignas(64) T widened[width * longest];
    for (auto first = std::size_t{0}; first < depth; first += longest) {
      auto const part = depth - first < longest ? depth - first : +longest;
      for (auto c = std::size_t{0}; c < columns; c += width) {
        auto const count = columns - c < width ? columns - c : +width;
        for (auto i = std::size_t{0}; i < count; ++i)
          widen(part, k + first, column + c + i, widened + i * longest);
        lane::copy_turned(count, part, widened, longest, to + first * panel + c, panel);
      }
    }
  }
  void widen(std::size_t depth, std::size_t k, std::size_t column, T* to) const
    requires is_block<Stored>
  {
    for (auto i = std::size_t{0}; i < depth; ++i) to[i] = matrix.at(k + i, column);
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

/// What the depth of a block is a multiple of.
template <class B> inline constexpr std::size_t unit_of_depth = 8;
template <class T, class Stored>
inline constexpr std::size_t unit_of_depth<columns_of_b<T, Stored>> =
    is_block<Stored> ? numbers_of_stored<Stored> : 8;

/// B whose rows and columns are both at a distance.
template <class T, class Stored> struct elements_of_b {
  weight_matrix<T, Stored> matrix;

  void copy(block_of_b const& block, T* to) const {
    constexpr auto wide = vectors * lane::pack<T>::width;
    for (auto c = std::size_t{0}; c < block.columns; c += wide, to += block.depth * wide)
      for (auto i = std::size_t{0}; i < block.depth; ++i)
        for (auto j = std::size_t{0}; j < wide && c + j < block.columns; ++j)
          to[i * wide + j] = matrix.at(block.k + i, block.column + c + j);
  }
  static auto ahead(block_of_b const&) -> columns_ahead { return {}; }
};

/// `count` rows of C with the block of B that is copied to b. Where it has several panels, they go
/// by as many as stay in the first level for all of them. The next block is asked for by tiles, or
/// between those rows.
template <class T, class B>
void multiply_block(product<T> const& p, std::size_t row, std::size_t count, B const& matrix,
                    block_of_b const& here, T const* b, block_of_b const& next) {
  constexpr auto wide = vectors * lane::pack<T>::width;
  auto const at_once = tiles_take_panels ? count : 4 * rows;
  auto const is_distant = tiles::is_distant(p.rows * p.c_row * sizeof(T));
  auto asked = std::size_t{0};
  auto ahead = matrix.ahead(next);
  auto const tiles_ask = fetches_ahead(rows, vectors) && next.depth >= here.depth;
  for (auto const end = row + count; row < end; row += at_once) {
    auto const rest = end - row;
    if (not tiles_ask) {
      auto const ask =
          rest <= at_once ? next.depth : next.depth - next.depth * (rest - at_once) / count;
      ahead.fetch(asked, ask);
      asked = ask;
    }
    auto block = product<T>{rest < at_once ? rest : +at_once,
                            wide,
                            here.depth,
                            here.depth == 0 ? p.a : p.a + row * p.a_row + here.k * p.a_depth,
                            p.a_row,
                            p.a_depth,
                            b,
                            wide,
                            p.c + row * p.c_row + here.column,
                            p.c_row,
                            here.k == 0 ? p.from : start::c,
                            p.bias == nullptr ? nullptr : p.bias + here.column};
    for (auto c = std::size_t{0}; c < here.columns; c += wide) {
      block.columns = here.columns - c < wide ? here.columns - c : wide;
      multiply<T>(block, is_distant ? p.rows - row : 0, tiles_ask ? &ahead : nullptr);
      block.b += here.depth * wide;
      block.c += wide;
      if (block.bias != nullptr) block.bias += wide;
    }
  }
}

/// The block at (k, column), `deep` where B goes on; behind B it is empty.
template <class T>
[[nodiscard]] auto block_at(product<T> const& p, std::size_t deep, std::size_t k,
                            std::size_t column) -> block_of_b {
  auto const below = k < p.depth ? p.depth - k : 0;
  auto const right = column < p.columns ? p.columns - column : 0;
  return {k, below < deep ? below : deep, column, right < panel<T> ? right : +panel<T>};
}

/// Reads rows in order, and so brings them to the second level: of what tiles would ask for there
/// by columns, some processors drop the most.
template <class T>
void read_rows(std::size_t count, std::size_t columns, T const* first, std::size_t distance) {
  for (auto r = std::size_t{0}; r < count; ++r, first += distance)
    for (auto i = std::size_t{0}; i < columns; i += 64 / sizeof(T)) lane::read(first + i);
}

/// `multiply`, block by block: the same bits, as the sums go on in C over k ascending. With `sums`,
/// a number for each row of C, a transposed A adds its columns to them on the way; another A must
/// have none.
///
/// Cost  copies B once for every block of rows; 128 KiB of stack at most with vectors of 64 bytes,
/// else 64, and 4 where B is stored narrower
template <class T, class B>
void multiply_by_blocks(product<T> const& p, B const& matrix, T* sums = nullptr) {
  alignas(64) T b[deepest_block * panel<T>];
  auto const deep = part(p.depth == 0 ? 1 : p.depth,
                         depth_of_block(is_transposed(p), p.rows * sizeof(T)), unit_of_depth<B>);
  auto const at = [&](std::size_t k, std::size_t column) { return block_at(p, deep, k, column); };
  auto const step = rows_of_block(p);
  auto const rows_from = [&](std::size_t row) { return p.rows - row < step ? p.rows - row : step; };
  auto const multiply_rows = [&](std::size_t row, block_of_b const& here, block_of_b const& next) {
    if (here.depth > 0) matrix.copy(here, b);  // without depth B may be null
    multiply_block(p, row, rows_from(row), matrix, here, b, next);
  };
  auto const read_columns = [&](std::size_t row, std::size_t k, std::size_t depth) {
    if (not is_transposed(p) || p.depth == 0) return;
    auto const* const first = p.a + row + k * p.a_depth;
    if (sums != nullptr)
      add_rows(depth, rows_from(row), first, p.a_depth, sums + row);
    else
      read_rows(depth, rows_from(row), first, p.a_depth);
  };
  auto const fits = p.rows * p.depth * sizeof(T) <= (is_transposed(p) ? block_bytes : 4 * large);
  if (p.rows <= step && fits) {
    // All of A stays in a cache, for AVX-512 a third level: C is read once.
    read_columns(0, 0, p.depth);
    for (auto column = std::size_t{0}; column < p.columns; column += panel<T>)
      for (auto k = std::size_t{0}; k < p.depth || k == 0; k += deep)
        multiply_rows(0, at(k, column),
                      k + deep < p.depth ? at(k + deep, column) : at(0, column + panel<T>));
    return;
  }
  for (auto k = std::size_t{0}; k < p.depth || k == 0; k += deep)
    for (auto row = std::size_t{0}; row < p.rows; row += step) {
      read_columns(row, k, at(k, 0).depth);
      for (auto column = std::size_t{0}; column < p.columns; column += panel<T>)
        multiply_rows(row, at(k, column), at(k, column + panel<T>));
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
  constexpr auto longest = std::size_t{256};
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
