// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/lanes.hpp>
#include <tessera/ops/operations.hpp>

#include <cstddef>

/// The one matrix product that the vector kernels share: C (+)= A·B, a tile of registers at a time.
///
/// Every element of C adds over k ascending, one fused multiply-add each, from what it starts with:
/// the bits do not depend on the tile, the vector width or the number of rows.
namespace tessera::tiles::inline TESSERA_TARGET {

/// What an element of C starts from; `c_last` is zero, and C is added to what comes out.
enum class start { zero, bias, c, c_last };

/// A (rows, depth) by distances, B (depth, columns), which may be stored narrower, and C (rows,
/// columns) with contiguous rows.
template <class T, class Stored = T> struct product {
  std::size_t rows;
  std::size_t columns;
  std::size_t depth;
  T const* a;
  std::size_t a_row;    ///< the distance of two rows of A
  std::size_t a_depth;  ///< the distance of two elements of a row of A
  Stored const* b;
  std::size_t b_depth;  ///< the distance of two rows of B
  T* c;
  std::size_t c_row;  ///< the distance of two rows of C
  start from;
  T const* bias;  ///< one number for each column, where from is start::bias
  [[no_unique_address]] weight_scales<T, is_scaled<Stored>> scales{};  ///< of B
  detail::product_runs row_runs{};                                     ///< of A and C
  detail::product_runs depth_runs{};  ///< of A and B, which is not scaled then
};

/// Registers decide the tile: 24 sums of 32 registers, 12 of 16.
#if defined(__AVX512F__) || defined(__aarch64__)
inline constexpr std::size_t vectors = 4;
#else
inline constexpr std::size_t vectors = 2;
#endif
inline constexpr std::size_t rows = 6;

/// The elements of a panel of packed columns: four vectors of 64 bytes, whatever the target's
/// vectors are, so that what is packed does not depend on -march.
template <class T> inline constexpr std::size_t panel = 256 / sizeof(T);

/// A vector of row r of weights, from column c on, whose stored numbers are at `from`; of a partial
/// one `last` count.
template <bool Partial, class T, class Stored>
TESSERA_INLINE inline auto stored_vector(Stored const* from,
                                         weight_scales<T, is_scaled<Stored>> const& scales,
                                         std::size_t r, std::size_t c, std::size_t last)
    -> lane::pack<T> {
  auto const number = Partial ? lane::widen_first<T>(from, last) : lane::widen<T>(from);
  if constexpr (is_scaled<Stored>) {
    if (scales.column == 0) return number * lane::pack<T>(scales.first[r * scales.row]);
    auto const* const scale = scales.first + c;
    return number * (Partial ? lane::load_first(scale, last) : lane::load(scale));
  } else {
    return number;
  }
}
/// Whether a tile takes long enough for each step to ask for a line of memory meanwhile.
constexpr auto fetches_ahead(std::size_t rows_of_tile, std::size_t vectors_of_tile) -> bool {
  return vectors == 4 && vectors_of_tile == 4 && rows_of_tile == rows;
}

/// A line of memory at each of the first `count` steps of a tile, which asks for it meanwhile.
struct lines_ahead {
  std::byte const* first;
  std::size_t step;  ///< in bytes
  std::size_t count;

  /// Goes past so many steps, and what lies between two runs of rows.
  void skip(std::size_t steps, std::size_t gap) {
    count -= count < steps ? count : steps;
    if (count != 0) first += steps * step + gap;
  }
};
/// What tiles that follow each other ask for, a column of lines each, so that it comes in time, and
/// no faster than memory gives it: of what is asked for at once, some processors drop the most.
struct columns_ahead {
  void const* first = nullptr;
  std::size_t row = 0;    ///< the distance of two rows in bytes
  std::size_t bytes = 0;  ///< of a row, that nobody has asked for

  /// A line of each of `deep` rows; none where there is nothing left.
  [[nodiscard]] auto next(std::size_t deep) -> lines_ahead {
    if (bytes == 0) return {};
    auto const* const here = static_cast<std::byte const*>(first);
    auto const line = bytes < 64 ? bytes : std::size_t{64};
    bytes -= line;
    first = here + line;
    return {here, row, deep};
  }
  /// Asks for the rows [from, to) at once.
  void fetch(std::size_t from, std::size_t to) const {
    for (; from < to; ++from)
      for (auto line = std::size_t{0}; line < bytes; line += 64)
        lane::fetch(static_cast<std::byte const*>(first) + from * row + line);
  }
};

/// Where the rows of a tile lie in A and C: at a distance, or in runs. Rows at a distance have a
/// pointer for three each, which an address reaches without arithmetic.
template <bool InRuns, std::size_t Rows, class T> struct tile_rows {
  T const* third_a[(Rows + 2) / 3];
  T* first_c;
  std::size_t a_row;
  std::size_t c_row;

  template <class Stored>
  TESSERA_INLINE tile_rows(product<T, Stored> const& p, std::size_t row)
      : first_c(p.c + row * p.c_row),
        a_row(p.depth == 0 ? 0 : p.a_row),  // without elements A may be null
        c_row(p.c_row) {
#pragma GCC unroll 8
    for (auto r = std::size_t{0}; r < Rows; r += 3) third_a[r / 3] = p.a + (row + r) * a_row;
  }
  [[nodiscard]] TESSERA_INLINE auto a(std::size_t r, std::size_t) const -> T {
    return third_a[r / 3][r % 3 * a_row];
  }
  [[nodiscard]] TESSERA_INLINE auto c(std::size_t r) const -> T* { return first_c + r * c_row; }
};
template <std::size_t Rows, class T> struct tile_rows<true, Rows, T> {
  T const* every_a[Rows];
  T* every_c[Rows];

  template <class Stored> TESSERA_INLINE tile_rows(product<T, Stored> const& p, std::size_t row) {
    auto const length = p.row_runs.length;
    auto run = length == 0 ? std::size_t{0} : row / length;
    auto in_run = row - run * length;
#pragma GCC unroll 8
    for (auto r = std::size_t{0}; r < Rows; ++r) {
      every_a[r] = p.a + run * p.row_runs.a + in_run * p.a_row;
      every_c[r] = p.c + run * p.row_runs.other + in_run * p.c_row;
      if (++in_run == length) in_run = 0, ++run;
    }
  }
  [[nodiscard]] TESSERA_INLINE auto a(std::size_t r, std::size_t at) const -> T {
    return every_a[r][at];
  }
  [[nodiscard]] TESSERA_INLINE auto c(std::size_t r) const -> T* { return every_c[r]; }
};
/// sum += the products of the steps [first, first + depth), whose numbers begin at b, and in the
/// rows of A where these begin, or at `at` in runs. The first steps ask for what is ahead.
template <bool InRuns, bool Partial, class T, class Stored, std::size_t Rows, std::size_t Vectors>
TESSERA_INLINE inline void add_depth(product<T, Stored> const& p, tile_rows<InRuns, Rows, T> places,
                                     std::size_t first, std::size_t depth, std::size_t at,
                                     Stored const* b, std::size_t column, std::size_t last,
                                     lines_ahead ahead, lane::pack<T> (&sum)[Rows][Vectors]) {
  using V = lane::pack<T>;
  auto k = first;
  auto const add_step = [&]() TESSERA_INLINE {
    V columns[Vectors];
#pragma GCC unroll 8
    for (auto v = std::size_t{0}; v < Vectors; ++v)
      columns[v] =
          stored_vector<Partial>(b + v * V::width, p.scales, k, column + v * V::width, last);
#pragma GCC unroll 8
    for (auto r = std::size_t{0}; r < Rows; ++r) {
      auto const x = V(places.a(r, at));
#pragma GCC unroll 8
      for (auto v = std::size_t{0}; v < Vectors; ++v) sum[r][v] = fma(x, columns[v], sum[r][v]);
    }
    if constexpr (InRuns) {
      at += p.a_depth;
    } else {
#pragma GCC unroll 8
      for (auto& a : places.third_a) a += p.a_depth;
    }
    b += p.b_depth;
  };
  if constexpr (fetches_ahead(Rows, Vectors)) {
    auto const asking = first + (ahead.count < depth ? ahead.count : depth);
#pragma GCC unroll 2
    for (; k < asking; ++k) {
      lane::fetch(ahead.first);
      ahead.first += ahead.step;
      add_step();
    }
  }
#pragma GCC unroll 2
  for (; k < first + depth; ++k) add_step();
}
/// Rows x Vectors elements of C at (row, column); with Partial, one vector of which `last` count.
template <bool InRuns, class T, class Stored, std::size_t Rows, std::size_t Vectors, bool Partial>
[[gnu::noinline]] void one_tile(product<T, Stored> const& p, std::size_t row, std::size_t column,
                                std::size_t last, lines_ahead const& ahead) {
  using V = lane::pack<T>;
  constexpr auto width = V::width;
  auto const load = [&](T const* from) TESSERA_INLINE {
    if constexpr (Partial)
      return lane::load_first(from, last);
    else
      return lane::load(from);
  };
  auto const store = [&](T* to, V numbers) TESSERA_INLINE {
    if constexpr (Partial)
      lane::store_first(to, numbers, last);
    else
      lane::store(to, numbers);
  };
  V sum[Rows][Vectors];
  auto const from = p.from;
  auto const at_rows = tile_rows<InRuns, Rows, T>(p, row);
#pragma GCC unroll 8
  for (auto r = std::size_t{0}; r < Rows; ++r) {
    auto const* const c = at_rows.c(r) + column;
#pragma GCC unroll 8
    for (auto v = std::size_t{0}; v < Vectors; ++v)
      sum[r][v] = from == start::c      ? load(c + v * width)
                  : from == start::bias ? load(p.bias + column + v * width)
                                        : V(T{0});
  }
  auto const* const b = p.depth == 0 ? p.b : p.b + column;
  if constexpr (InRuns) {
    auto const length = p.depth_runs.length == 0 ? p.depth : p.depth_runs.length;
    auto run = std::size_t{0};
    auto rest = ahead;
    for (auto k = std::size_t{0}; k < p.depth; k += length, ++run) {
      add_depth<InRuns, Partial>(p, at_rows, k, length, p.depth_runs.first + run * p.depth_runs.a,
                                 b + run * p.depth_runs.other, column, last, rest, sum);
      rest.skip(length, p.depth_runs.other * sizeof(Stored));
    }
  } else {
    add_depth<InRuns, Partial>(p, at_rows, 0, p.depth, 0, b, column, last, ahead, sum);
  }
#pragma GCC unroll 8
  for (auto r = std::size_t{0}; r < Rows; ++r) {
    auto* const c = at_rows.c(r) + column;
    if (from == start::c_last) {
#pragma GCC unroll 8
      for (auto v = std::size_t{0}; v < Vectors; ++v) sum[r][v] = load(c + v * width) + sum[r][v];
    }
#pragma GCC unroll 8
    for (auto v = std::size_t{0}; v < Vectors; ++v) store(c + v * width, sum[r][v]);
  }
}

/// One vector has eight sums of its own, as many as the latency of a sum asks for.
inline constexpr std::size_t rows_of_one_vector = 8;

/// What the tiles of a panel ask for of C: a line of each of the next four tiles' rows, which have
/// all their lines when it is their turn. All lines of one tile at once would leave no place for
/// what comes from a second level.
[[nodiscard]] inline auto lines_of_c(std::byte const* c, std::size_t bytes_of_row, std::size_t tile,
                                     std::size_t distant) -> lines_ahead {
  constexpr auto group = 4 * rows;
  auto const row = (tile / 4 + 1) * group;
  if (row >= distant) return {};
  auto const left = distant - row;
  return {c + row * bytes_of_row + tile % 4 * 64, bytes_of_row, left < group ? left : group};
}

/// Rows [row, end) of a panel of columns. Of the first `distant` rows of C, which come from a third
/// level, tiles ask for those that follow, unless they ask for a part of what is ahead; those that
/// are too short for it ask before they begin.
template <bool InRuns, class T, class Stored, std::size_t Vectors, bool Partial>
void columns_of(product<T, Stored> const& p, std::size_t row, std::size_t end, std::size_t column,
                std::size_t last, std::size_t distant, columns_ahead* ahead = nullptr) {
  constexpr auto most = Vectors == 1 ? rows_of_one_vector : rows;
  auto const begin = row;
  // Eight rows are four and four: two would read B for little.
  for (; row + most <= end && (most == 8 || row + 8 != end); row += most) {
    auto asks = lines_ahead{};
    if constexpr (fetches_ahead(most, Vectors)) {
      if (ahead != nullptr && ahead->bytes != 0)
        asks = ahead->next(p.depth);
      else if (not InRuns && distant > begin)
        asks = lines_of_c(reinterpret_cast<std::byte const*>(p.c + begin * p.c_row + column),
                          p.c_row * sizeof(T), (row - begin) / most, distant - begin);
    } else if constexpr (not InRuns) {
      for (auto r = row + most; r < row + 2 * most && r < distant; ++r)
        for (auto i = std::size_t{0}; i < Vectors * lane::pack<T>::width; i += 64 / sizeof(T))
          lane::fetch_first(p.c + r * p.c_row + column + i);
    }
    one_tile<InRuns, T, Stored, most, Vectors, Partial>(p, row, column, last, asks);
  }
  for (; row + 4 <= end; row += 4)
    one_tile<InRuns, T, Stored, 4, Vectors, Partial>(p, row, column, last, {});
  if (row + 2 <= end)
    one_tile<InRuns, T, Stored, 2, Vectors, Partial>(p, row, column, last, {}), row += 2;
  if (row < end) one_tile<InRuns, T, Stored, 1, Vectors, Partial>(p, row, column, last, {});
}

/// Rows of A that are read again and again from the second level take so many bytes there at most.
inline constexpr std::size_t block_bytes = std::size_t{1} << 19U;

/// Equal parts of n, each a multiple of `unit`, and of `most` where that is one.
[[nodiscard]] constexpr auto part(std::size_t n, std::size_t most, std::size_t unit)
    -> std::size_t {
  auto const parts = n <= most ? std::size_t{1} : (n + most - 1) / most;
  return (n + parts * unit - 1) / (parts * unit) * unit;
}
/// The rows over which panels of columns go one after another: all, or what a second level holds of
/// a large A, unless that were so few that B is read too often.
[[nodiscard]] constexpr auto rows_at_once(std::size_t count, std::size_t bytes_of_row)
    -> std::size_t {
  constexpr auto least = std::size_t{128};
  if (vectors < 4 || count <= least || count * bytes_of_row <= block_bytes ||
      2 * least * bytes_of_row > 3 * block_bytes)
    return count;
  auto const most = block_bytes / bytes_of_row;
  return part(count, most < least ? least : most, rows);
}

/// From what size in bytes on a matrix is not taken to stay in a second level.
inline constexpr std::size_t large = std::size_t{1} << 20U;
/// Whether C comes from a third level: then tiles ask for its places before they write there. Where
/// a second level may hold it, to ask costs more than it saves.
[[nodiscard]] constexpr auto is_distant(std::size_t bytes_of_c) -> bool {
  return vectors == 4 && bytes_of_c >= 2 * large;
}

/// C (+)= A·B. Panels of columns go over many rows, so that a panel of B is read once for
/// them. Rows or depth in runs are another function, as their places cost registers. Of a C that is
/// part of a distant one, `distant` rows from its first on are there. Tiles ask for the next
/// columns of B; behind the last ones for what is `ahead`.
template <class T, class Stored = T, bool InRuns = false>
void multiply(product<T, Stored> const& p, std::size_t distant = 0,
              columns_ahead* ahead = nullptr) {
  constexpr auto width = lane::pack<T>::width;
  constexpr auto panel = vectors * width;
  auto const whole = p.columns / width * width;
  // One or two vectors are not left for themselves where more come before: five are three and two,
  // six twice three, whose stores wait for each other less than those of four.
  auto const left = whole % panel;
  auto const splits = vectors > 2 && (left == width || left == 2 * width) && whole > left;
  auto const wide = splits ? whole - left - panel : whole;
  auto const step = p.columns <= panel ? p.rows : rows_at_once(p.rows, p.depth * sizeof(T));
  if (distant == 0 && is_distant(p.rows * p.c_row * sizeof(T))) distant = p.rows;
  for (auto row = std::size_t{0}; row < p.rows; row += step) {
    auto const end = p.rows - row < step ? p.rows : row + step;
    auto column = std::size_t{0};
    for (; column + panel <= wide; column += panel) {
      auto next = columns_ahead{};
      auto const right = p.columns - column - panel;
      if (fetches_ahead(rows, vectors) && right > 0 && p.depth > 0)
        next = {p.b + column + panel, p.b_depth * sizeof(Stored),
                (right < panel ? right : +panel) * sizeof(Stored)};
      columns_of<InRuns, T, Stored, vectors, false>(p, row, end, column, width, distant,
                                                    next.bytes == 0 ? ahead : &next);
    }
    if constexpr (vectors > 2) {
      for (; column + 3 * width <= p.columns; column += 3 * width)
        columns_of<InRuns, T, Stored, 3, false>(p, row, end, column, width, distant);
      if (column + 2 * width <= p.columns)
        columns_of<InRuns, T, Stored, 2, false>(p, row, end, column, width, distant),
            column += 2 * width;
    }
    if (column + width <= p.columns)
      columns_of<InRuns, T, Stored, 1, false>(p, row, end, column, width, distant), column += width;
    if (column < p.columns)
      columns_of<InRuns, T, Stored, 1, true>(p, row, end, column, p.columns - column, distant);
  }
}

/// sum += `count` rows of d, ascending, `distance` apart; four rows at a time, each in order, which
/// is how memory is read ahead.
template <class T>
void add_rows(std::size_t count, std::size_t columns, T const* d, std::size_t distance, T* sum) {
  for (; count > 0; count -= count < 4 ? count : 4, d += 4 * distance)
    for_each_vector<T>(columns, [&](auto lanes, std::size_t i) TESSERA_INLINE {
      auto total = lanes.load(sum + i);
      if (count >= 4) {
#pragma GCC unroll 4
        for (auto r = std::size_t{0}; r < 4; ++r) total = total + lanes.load(d + r * distance + i);
      } else {
        for (auto r = std::size_t{0}; r < count; ++r)
          total = total + lanes.load(d + r * distance + i);
      }
      lanes.store(sum + i, total);
    });
}

}  // namespace tessera::tiles::inline TESSERA_TARGET
