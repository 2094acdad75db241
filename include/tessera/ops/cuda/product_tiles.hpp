// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/core/lane.hpp>
#include <tessera/tensor/weights.hpp>

#include <algorithm>

/// Products by tiles that go through the memory that a block shares, of whatever has lines.
namespace tessera::device::inline TESSERA_DEVICE_TARGET {

/// What an output starts from; `y_last` is zero, and y is added to what comes out.
enum class start { zero, bias, y, y_last };
[[nodiscard]] TESSERA_DEVICE constexpr auto is_zero(start from) -> bool {
  return from == start::zero || from == start::y_last;
}

/// What a product multiplies, seen from its outputs: a row of a, or a column of b, is a line along
/// the depth. Others than `lines` compute where a number lies: the pixels that a convolution sees.
/// A `step` is a place along the depth, from which a thread goes on to the next one that it loads.
template <class T> struct lines {
  T const* data;
  std::size_t across;
  std::size_t along;
  using cursor = T const*;
  using step = std::size_t;

  /// True where neighbours along the depth are neighbours in memory.
  [[nodiscard]] TESSERA_DEVICE auto is_along_depth() const -> bool { return along == 1; }
  [[nodiscard]] TESSERA_DEVICE auto at(std::size_t i) const -> cursor { return data + i * across; }
  [[nodiscard]] TESSERA_DEVICE auto from(std::size_t k) const -> step { return k * along; }
  TESSERA_DEVICE void go_on(step& k, std::size_t distance) const { k += distance * along; }
  [[nodiscard]] TESSERA_DEVICE static auto value(cursor line, step k) -> T { return line[k]; }
};
/// Lines of weights that are stored narrower: widened, and scaled, as they are read.
template <class T, class Stored> struct weight_lines {
  weight_matrix<T, Stored> numbers;  ///< (depth, columns) of b
  using cursor = std::size_t;
  using step = std::size_t;

  [[nodiscard]] TESSERA_DEVICE auto is_along_depth() const -> bool { return numbers.row == 1; }
  [[nodiscard]] TESSERA_DEVICE auto at(std::size_t i) const -> cursor { return i; }
  [[nodiscard]] TESSERA_DEVICE static auto from(std::size_t k) -> step { return k; }
  TESSERA_DEVICE static void go_on(step& k, std::size_t distance) { k += distance; }
  [[nodiscard]] TESSERA_DEVICE auto value(cursor line, step k) const -> T {
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

/// y = start + a·b by tiles of Tile·Tile outputs: a block of the depth of each line goes through
/// shared memory at a time, and is multiplied while the next one comes from memory into registers;
/// a thread has (Tile / 16)² outputs, next to each other, and adds over the depth ascending, one
/// fma each. The depth of few tiles is cut into `parts`, whose sums are added afterwards in
/// their order: the bits are those of `reference` where there is one part.
///
/// Shapes  a (rows, depth), b (depth, columns), y (rows, columns), bias (columns)
/// Cost    2·depth / Tile reads of memory, and depth·32 / Tile of shared memory for each output
template <class T, class A, class B, std::size_t Tile> struct product_tiles {
  static constexpr std::size_t threads = 256;
  static constexpr std::size_t deep = 1024 / Tile;
  static constexpr std::size_t own = Tile / 16;
  static constexpr std::size_t loads = Tile * deep / threads;
  struct shared {
    // Lines are whole vectors of 16 bytes, so that a thread reads its numbers by one load.
    alignas(16) T a[deep][Tile + 4];
    alignas(16) T b[deep][Tile + 4];
  };
  template <class Side> struct coming {
    typename Side::cursor lines[loads];
    typename Side::step step;
    T numbers[loads];
  };
  struct registers {
    T sum[own][own];
    coming<A> a;
    coming<B> b;
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
    return part == 0 ? 1 : 2 * ((part + deep - 1) / deep);
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
    if (phase == 0) {
      start_sums(mine, row, column, thread);
      if (part == 0) return store(mine, row, column, block / tiles, thread);
      begin(a, mine.a, rows, row, first, thread);
      begin(b, mine.b, columns, column, first, thread);
      load(mine, row, column, k, end, thread);
    }
    if (phase % 2 == 0) {
      share(s.a, a, mine.a, thread);
      share(s.b, b, mine.b, thread);
      return;
    }
    if (k + deep < end) load(mine, row, column, k + deep, end, thread);
    if (k + deep <= end)
      for (auto j = std::size_t{0}; j < deep; ++j) add(mine, s, j, thread);
    else
      for (auto j = std::size_t{0}; k + j < end; ++j) add(mine, s, j, thread);
    if (phase + 1 == phases()) store(mine, row, column, block / tiles, thread);
  }

 private:
  TESSERA_DEVICE static void add(registers& mine, shared const& s, std::size_t j,
                                 std::size_t thread) {
    T of_a[own];
    T of_b[own];
    for (auto m = std::size_t{0}; m < own; ++m) of_a[m] = s.a[j][thread / 16 * own + m];
    for (auto n = std::size_t{0}; n < own; ++n) of_b[n] = s.b[j][thread % 16 * own + n];
    for (auto m = std::size_t{0}; m < own; ++m)
      for (auto n = std::size_t{0}; n < own; ++n)
        mine.sum[m][n] = lane::fma(of_a[m], of_b[n], mine.sum[m][n]);
  }
  /// f(m, n, row, column) for each output of a thread.
  TESSERA_DEVICE void for_own(std::size_t row, std::size_t column, std::size_t thread,
                              auto const& f) const {
    for (auto m = std::size_t{0}; m < own; ++m)
      for (auto n = std::size_t{0}; n < own; ++n) {
        auto const r = row + thread / 16 * own + m;
        auto const c = column + thread % 16 * own + n;
        if (r < rows && c < columns) f(m, n, r, c);
      }
  }
  TESSERA_DEVICE void start_sums(registers& mine, std::size_t row, std::size_t column,
                                 std::size_t thread) const {
    for (auto& line : mine.sum)
      for (auto& sum : line) sum = T{0};
    if (partial == nullptr && not is_zero(from))
      for_own(row, column, thread, [&](std::size_t m, std::size_t n, std::size_t r, std::size_t c) {
        mine.sum[m][n] = from == start::y ? y.at(r, c) : bias[c];
      });
  }
  template <class Side>
  TESSERA_DEVICE static void begin(Side const& side, coming<Side>& of, std::size_t count,
                                   std::size_t line, std::size_t first, std::size_t thread) {
    for (auto n = std::size_t{0}; n < loads; ++n) {
      auto const i = line + place(side, n, thread).line;
      of.lines[n] = side.at(i < count ? i : 0);
    }
    of.step = side.from(first + place(side, 0, thread).k);
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
  /// Number n that a thread loads: next threads load next numbers, whichever way they lie. Along
  /// the depth a thread loads one place of several lines, across it several places of one line.
  TESSERA_DEVICE static auto place(auto const& of, std::size_t n, std::size_t thread) -> element {
    auto const e = thread + n * threads;
    return of.is_along_depth() ? element{e / deep, e % deep} : element{e % Tile, e / Tile};
  }
  /// What a thread loads of the block from k on, into its registers.
  TESSERA_DEVICE void load(registers& mine, std::size_t row, std::size_t column, std::size_t k,
                           std::size_t end, std::size_t thread) const {
    load(a, mine.a, rows - row, end - k, thread);
    load(b, mine.b, columns - column, end - k, thread);
  }
  template <class Side>
  TESSERA_DEVICE static void load(Side const& side, coming<Side>& of, std::size_t count,
                                  std::size_t left, std::size_t thread) {
    auto const along = side.is_along_depth();
    for (auto n = std::size_t{0}; n < loads; ++n) {
      auto const at = place(side, n, thread);
      of.numbers[n] = at.line < count && at.k < left ? side.value(of.lines[n], of.step) : T{0};
      if (not along) side.go_on(of.step, threads / Tile);
    }
    if (along) side.go_on(of.step, deep);
  }
  template <class Side>
  TESSERA_DEVICE static void share(T (&to)[deep][Tile + 4], Side const& side,
                                   coming<Side> const& of, std::size_t thread) {
    for (auto n = std::size_t{0}; n < loads; ++n) {
      auto const at = place(side, n, thread);
      to[at.k][at.line] = of.numbers[n];
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
    constexpr auto deep = product_tiles<T, A, B, Tile>::deep;
    auto const part = (depth + cuts * deep - 1) / (cuts * deep) * deep;
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

}  // namespace tessera::device::inline TESSERA_DEVICE_TARGET
