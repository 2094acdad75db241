// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/core/lane.hpp>
#include <tessera/tensor/weights.hpp>

#include <algorithm>

/// Products by tiles that go through the memory that a block shares, of whatever has lines.
namespace tessera::device {

/// What an output starts from; `y_last` is zero, and y is added to what comes out.
enum class start { zero, bias, y, y_last };
[[nodiscard]] TESSERA_DEVICE constexpr auto is_zero(start from) -> bool {
  return from == start::zero || from == start::y_last;
}

/// What a product multiplies, seen from its outputs: a row of a, or a column of b, is a line along
/// the depth. Others than `lines` compute where a number lies: the pixels that a convolution sees.
template <class T> struct lines {
  T const* data;
  std::size_t across;
  std::size_t along;
  using cursor = T const*;

  /// True where neighbours along the depth are neighbours in memory.
  [[nodiscard]] TESSERA_DEVICE auto is_along_depth() const -> bool { return along == 1; }
  [[nodiscard]] TESSERA_DEVICE auto at(std::size_t i) const -> cursor { return data + i * across; }
  [[nodiscard]] TESSERA_DEVICE auto value(cursor line, std::size_t k) const -> T {
    return line[k * along];
  }
};
/// Lines of weights that are stored narrower: widened, and scaled, as they are read.
template <class T, class Stored> struct weight_lines {
  weight_matrix<T, Stored> numbers;  ///< (depth, columns) of b
  using cursor = std::size_t;

  [[nodiscard]] TESSERA_DEVICE auto is_along_depth() const -> bool { return numbers.row == 1; }
  [[nodiscard]] TESSERA_DEVICE auto at(std::size_t i) const -> cursor { return i; }
  [[nodiscard]] TESSERA_DEVICE auto value(cursor line, std::size_t k) const -> T {
    return numbers.at(k, line);
  }
};
/// Where an output lies: row r, and column c as a column of y or, with width > 1, in turn.
template <class T> struct outputs {
  T* data;
  std::size_t row;
  std::size_t width = 1;     ///< columns that a step of 1 goes through before ...
  std::size_t distance = 1;  ///< ... they go on behind each other

  [[nodiscard]] TESSERA_DEVICE auto at(std::size_t r, std::size_t c) const -> T& {
    return data[r * row + c % width * distance + c / width];
  }
};

/// y = start + a·b by tiles of Tile·Tile outputs: 16 numbers of the depth of each line go through
/// shared memory at a time; a thread has (Tile / 16)² outputs and adds over the depth ascending,
/// one fma each. The depth of few tiles is cut into `parts`, whose sums are added afterwards in
/// their order: the bits are those of `reference` where there is one part.
///
/// Shapes  a (rows, depth), b (depth, columns), y (rows, columns), bias (columns)
/// Cost    2·depth / Tile reads of memory, and depth·32 / Tile of shared memory for each output
template <class T, class A, class B, std::size_t Tile> struct product_tiles {
  static constexpr std::size_t threads = 256;
  static constexpr std::size_t deep = 16;
  static constexpr std::size_t own = Tile / 16;
  static constexpr std::size_t loads = Tile * deep / threads;
  struct shared {
    T a[deep][Tile + 1];
    T b[deep][Tile + 1];
  };
  struct registers {
    T sum[own][own];
    typename A::cursor a[loads];
    typename B::cursor b[loads];
  };

  std::size_t rows;
  std::size_t columns;
  std::size_t depth;
  std::size_t part;  ///< depth of one part, a multiple of `deep` unless it is all of it
  A a;
  B b;
  outputs<T> y;
  start from;
  T const* bias;
  T* partial;  ///< (parts, rows, columns), where there is more than one

  [[nodiscard]] TESSERA_DEVICE constexpr auto phases() const -> std::size_t {
    return part == 0 ? 2 : 2 * ((part + deep - 1) / deep);
  }
  TESSERA_DEVICE void run(std::size_t phase, std::size_t block, std::size_t thread, shared& s,
                          registers& mine) const {
    auto const across = (columns + Tile - 1) / Tile;
    auto const tiles = (rows + Tile - 1) / Tile * across;
    auto const row = block % tiles / across * Tile;
    auto const column = block % tiles % across * Tile;
    auto const first = block / tiles * part;
    auto const end = first + part < depth ? first + part : depth;
    auto const k = first + phase / 2 * deep;
    if (phase == 0) begin(mine, row, column, thread);
    if (phase % 2 == 0) {
      load(s.a, a, mine.a, rows - row, k, end, thread);
      load(s.b, b, mine.b, columns - column, k, end, thread);
      return;
    }
    for (auto j = std::size_t{0}; j < deep && k + j < end; ++j) {
      T of_b[own];
      for (auto n = std::size_t{0}; n < own; ++n) of_b[n] = s.b[j][thread % 16 + n * 16];
      for (auto m = std::size_t{0}; m < own; ++m) {
        auto const of_a = s.a[j][thread / 16 + m * 16];
        for (auto n = std::size_t{0}; n < own; ++n)
          mine.sum[m][n] = lane::fma(of_a, of_b[n], mine.sum[m][n]);
      }
    }
    if (phase + 1 == phases()) store(mine, row, column, block / tiles, thread);
  }

 private:
  /// f(m, n, row, column) for each output of a thread.
  TESSERA_DEVICE void for_own(std::size_t row, std::size_t column, std::size_t thread,
                              auto const& f) const {
    for (auto m = std::size_t{0}; m < own; ++m)
      for (auto n = std::size_t{0}; n < own; ++n) {
        auto const r = row + thread / 16 + m * 16;
        auto const c = column + thread % 16 + n * 16;
        if (r < rows && c < columns) f(m, n, r, c);
      }
  }
  TESSERA_DEVICE void begin(registers& mine, std::size_t row, std::size_t column,
                            std::size_t thread) const {
    for (auto& line : mine.sum)
      for (auto& sum : line) sum = T{0};
    if (partial == nullptr && not is_zero(from))
      for_own(row, column, thread, [&](std::size_t m, std::size_t n, std::size_t r, std::size_t c) {
        mine.sum[m][n] = from == start::y ? y.at(r, c) : bias[c];
      });
    // Without a depth there may be no memory.
    for (auto n = std::size_t{0}; n < loads && part > 0; ++n) {
      auto const i = row + place(a, n, thread).line;
      auto const j = column + place(b, n, thread).line;
      mine.a[n] = a.at(i < rows ? i : 0);
      mine.b[n] = b.at(j < columns ? j : 0);
    }
  }
  TESSERA_DEVICE void store(registers const& mine, std::size_t row, std::size_t column,
                            std::size_t of_part, std::size_t thread) const {
    for_own(row, column, thread, [&](std::size_t m, std::size_t n, std::size_t r, std::size_t c) {
      if (partial == nullptr)
        y.at(r, c) = from == start::y_last ? y.at(r, c) + mine.sum[m][n] : mine.sum[m][n];
      else
        partial[(of_part * rows + r) * columns + c] = mine.sum[m][n];
    });
  }
  struct element {
    std::size_t line;
    std::size_t k;
  };
  /// Number n that a thread loads: next threads load next numbers, whichever way they lie.
  TESSERA_DEVICE static auto place(auto const& of, std::size_t n, std::size_t thread) -> element {
    auto const e = thread + n * threads;
    return of.is_along_depth() ? element{e / deep, e % deep} : element{e % Tile, e / Tile};
  }
  template <class Side>
  TESSERA_DEVICE static void load(T (&to)[deep][Tile + 1], Side const& side,
                                  typename Side::cursor const (&cursors)[loads], std::size_t count,
                                  std::size_t k, std::size_t end, std::size_t thread) {
    for (auto n = std::size_t{0}; n < loads; ++n) {
      auto const at = place(side, n, thread);
      to[at.k][at.line] =
          at.line < count && k + at.k < end ? side.value(cursors[n], k + at.k) : T{0};
    }
  }
};

/// y = start + the sums of the parts, in their order.
template <class T> struct add_parts {
  std::size_t rows;
  std::size_t columns;
  std::size_t parts;
  T const* partial;
  outputs<T> y;
  start from;
  T const* bias;

  TESSERA_DEVICE void operator()(std::size_t at) const {
    auto const c = at % columns;
    auto& to = y.at(at / columns, c);
    auto sum = from == start::y ? to : from == start::bias ? bias[c] : T{0};
    for (auto p = std::size_t{0}; p < parts; ++p) sum += partial[p * rows * columns + at];
    to = from == start::y_last ? to + sum : sum;
  }
};

/// A product of lines a and b, in tiles that are large where there are many.
template <class T, class A, class B>
void multiply_lines(std::size_t rows, std::size_t columns, std::size_t depth, A const& a,
                    B const& b, outputs<T> y, start from, T const* bias) {
  constexpr auto enough = std::size_t{128};  // blocks that keep a GPU busy
  constexpr auto least = std::size_t{128};   // depth of a part
  constexpr auto most_bytes = queue::scratch_bytes / 4;
  auto const tiles_of = [&](std::size_t tile) {
    return (rows + tile - 1) / tile * ((columns + tile - 1) / tile);
  };
  auto const run = [&]<std::size_t Tile>(std::integral_constant<std::size_t, Tile>) {
    auto const tiles = tiles_of(Tile);
    auto const wanted = tiles == 0 ? 1 : (enough + tiles - 1) / tiles;
    auto const fits = most_bytes / (rows * columns * sizeof(T) + 1);
    auto const cuts = std::min({wanted, depth / least, fits});
    if (cuts < 2)
      return current().launch(
          product_tiles<T, A, B, Tile>{rows, columns, depth, depth, a, b, y, from, bias, nullptr},
          tiles);
    auto const part = (depth + cuts * 16 - 1) / (cuts * 16) * 16;
    auto const parts = (depth + part - 1) / part;
    auto const sums = scratch<T>(parts * rows * columns);
    current().launch(
        product_tiles<T, A, B, Tile>{rows, columns, depth, part, a, b, y, from, bias, sums.data()},
        tiles * parts);
    for_each(rows * columns, add_parts<T>{rows, columns, parts, sums.data(), y, from, bias});
  };
  if (tiles_of(64) >= enough)
    run(std::integral_constant<std::size_t, 64>{});
  else
    run(std::integral_constant<std::size_t, 32>{});
}

}  // namespace tessera::device
