// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/sharing.hpp>
#include <tessera/backend/simd/matrix_unit.hpp>
#include <tessera/backend/simd/pairs.hpp>
#include <tessera/backend/simd/transpose.hpp>
#include <tessera/ops/reference/block_product.hpp>
#include <tessera/ops/simd/multiply.hpp>
#include <tessera/ops/simd/shared_product.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>

#if TESSERA_MATRIX_UNIT
namespace tessera::detail::inline TESSERA_TARGET {

/// The product of ops/reference/pair_product.hpp by a matrix unit, in an order of its own: x is
/// rounded as there, and y goes on from its bias by 32 numbers of a row at a time, as
/// lane::add_tile_of_pairs adds them. What is left of a row counts as zeros. The bits of a row do
/// not depend on how many others there are.
///
/// The weights are the left factor, as they lie; tiles of the right one have pairs of 16 rows of x
/// side by side, and y comes out turned. All rows of x that there is place for go over a panel of
/// weights, one group after another, and each asks for a part of the next panel.
///
/// Accuracy  (In/32 + 18)·eps·(sum|x·w| + |bias|) of the sum, if none is below 2^-126, and
///           2^-8·sum|x·w| by rounding x
/// Cost      400 KiB of stack; x is rounded once, and weights are read once for 128 rows or more
template <class Stored> struct pair_product_by_tiles {
  static constexpr auto side = lane::tile_rows;
  /// Numbers of a row of x in a tile.
  static constexpr auto length = 2 * side;
  static constexpr auto row_bytes = 2 * sizeof(Stored);
  /// Tiles of weights, and of x, at a time.
  static constexpr auto at_once = std::size_t{2};
  static constexpr auto group = at_once * side;
  /// Tiles of x, and groups of rows that have place at least.
  static constexpr auto most = std::size_t{384};
  static constexpr auto groups_at_once = std::size_t{4};

  block_product const& p;
  weight_matrix<float, Stored> const& w;

  void run() const {
    if (p.rows == 0) return;
    alignas(64) float x[most * side * side];
    auto const threads = is_shared(p.rows, p.out, p.in)
                             ? threads_for(p.rows * p.out * p.in, current_team->threads)
                             : std::size_t{1};
    auto const steps = (p.in + length - 1) / length;
    auto const groups = std::min((p.rows + group - 1) / group, groups_at_once);
    auto const depth = tiles::part(steps, most / at_once / groups, 1);
    auto const rows = most / at_once / depth * group;
    for (auto row = std::size_t{0}; row < p.rows; row += rows)
      for (auto k = std::size_t{0}; k < p.in; k += depth * length)
        run_part({.row = row,
                  .rows = std::min(rows, p.rows - row),
                  .k = k,
                  .depth = std::min(depth * length, p.in - k)},
                 threads, x);
  }

 private:
  struct part {
    std::size_t row, rows;
    std::size_t k, depth;

    /// Tiles along the depth.
    [[nodiscard]] auto steps() const -> std::size_t { return (depth + length - 1) / length; }
  };
  /// A group of them, its tiles, and how many groups there are.
  struct rows_here {
    std::size_t first, count;
    std::size_t index, groups;
    float const* x;
  };
  static constexpr auto sums_row = at_once * side;
  using sums = float[at_once * side * sums_row];

  /// Sums of a panel, turned into y while the next one multiplies, a few at a step.
  struct turning {
    static constexpr auto width = lane::pack<float>::width;
    static constexpr auto columns = lane::columns_at_once<float>;
    static constexpr auto at_a_step = 32 / width;

    alignas(64) sums of_tiles;
    std::size_t outputs = 0;
    std::size_t rows = 0;  ///< none, where nothing waits
    float* y = nullptr;
    std::size_t y_row = 0;
    std::size_t output = 0;
    std::size_t row = 0;

    /// The sums of `across` outputs and `down` rows are there; what fills no vector does not wait.
    void begin(std::size_t across, std::size_t down, float* to, std::size_t to_row) {
      if (across % width != 0 || down % columns != 0) {
        lane::copy_turned(across, down, of_tiles, sums_row, to, to_row);
        return;
      }
      outputs = across;
      rows = down;
      y = to;
      y_row = to_row;
      output = row = 0;
    }
    TESSERA_INLINE void step() {
#pragma GCC unroll 8
      for (auto i = std::size_t{0}; i < at_a_step; ++i)
        if (row < rows) turn();
    }
    void end() {
      while (row < rows) turn();
    }

   private:
    TESSERA_INLINE void turn() {
      lane::pack<float> turned[columns];
      lane::load_columns(of_tiles + output * sums_row + row, sums_row, turned);
#pragma GCC unroll 4
      for (auto c = std::size_t{0}; c < columns; ++c)
        lane::store(y + (row + c) * y_row + output, turned[c]);
      output += width;
      if (output < outputs) return;
      output = 0;
      row += columns;
    }
  };

  /// By as many threads, of whom each takes some outputs, or rows where these are more.
  void run_part(part const& here, std::size_t threads, float* x) const {
    if (threads == 1) {
      put_rows(here, {0, here.rows}, x);
      multiply(here, {0, here.rows}, {0, p.out}, x);
      return;
    }
    auto const of_rows = shares(here.rows, group, threads);
    auto const of_outputs = shares(p.out, group, threads);
    in_parts(of_rows.count, [&](std::size_t i) { put_rows(here, of_rows[i], x); });
    if (of_outputs.count < of_rows.count)
      in_parts(of_rows.count, [&](std::size_t i) { multiply(here, of_rows[i], {0, p.out}, x); });
    else
      in_parts(of_outputs.count,
               [&](std::size_t i) { multiply(here, {0, here.rows}, of_outputs[i], x); });
  }
  void put_rows(part const& here, share const& rows, float* x) const {
    auto const steps = here.steps();
    for (auto r = rows.first; r < rows.first + rows.count; r += side) {
      auto const first = r / group * group;
      auto const apart = here.rows - first > side ? at_once : 1;
      put_rows(here, r, apart, x + (first * steps * side + (r - first) * side));
    }
  }
  void multiply(part const& here, share const& of_rows, share const& outputs,
                float const* x) const {
    auto const in_use = lane::tiles_in_use<row_bytes>();
    auto const end = outputs.first + outputs.count;
    auto const steps = here.steps();
    auto const last_row = of_rows.first + of_rows.count;
    auto const groups = (of_rows.count + group - 1) / group;
    turning before;
    for (auto o = outputs.first; o < end; o += at_once * side)
      for (auto r = of_rows.first; r < last_row; r += group) {
        auto const rows = rows_here{r, std::min(group, last_row - r), (r - of_rows.first) / group,
                                    groups, x + r * steps * side};
        if (rows.count > side)
          end - o > side ? run_panel<2, 2>(here, o, rows, before)
                         : run_panel<1, 2>(here, o, rows, before);
        else
          end - o > side ? run_panel<2, 1>(here, o, rows, before)
                         : run_panel<1, 1>(here, o, rows, before);
      }
    before.end();
  }
  /// Tiles of 16 rows of x, `apart` of one another: pairs, turned. Rows that x lacks are zeros.
  [[gnu::noinline]] void put_rows(part const& here, std::size_t first, std::size_t apart,
                                  float* to) const {
    constexpr auto width = lane::pack<float>::width;
    auto const rows = std::min(side, here.rows - first);
    alignas(64) float pairs[side * side] = {};
    auto* const numbers = reinterpret_cast<bf16*>(pairs);
    for (auto k = std::size_t{0}; k < here.depth; k += length, to += apart * side * side) {
      auto const count = std::min(length, here.depth - k);
      if (count < length) std::memset(pairs, 0, sizeof pairs);
      for (auto r = std::size_t{0}; r < rows; ++r) {
        auto const* const from = p.x + (here.row + first + r) * p.in + here.k + k;
        for (auto i = std::size_t{0}; i < count; i += width)
          lane::store_normal(numbers + r * length + i, lane::load(from + i));
      }
      for (auto r = std::size_t{0}; r < side; r += width)
        lane::for_columns_of_near_line(
            pairs + r * side, side, [&](std::size_t c, auto const& columns) TESSERA_INLINE {
              for (auto i = std::size_t{0}; i < lane::columns_at_once<float>; ++i)
                lane::store(to + (c + i) * side + r, columns[i]);
            });
    }
  }
  /// Outputs of some tiles from o on, for tiles of x.
  template <int Outputs, int Rows>
  [[gnu::noinline]] void run_panel(part const& here, std::size_t o, rows_here const& rows,
                                   turning& before) const {
    auto const count = std::min(Outputs * side, p.out - o);
    start<Outputs, Rows>(here, rows, o, count, before);
    auto const* const from =
        reinterpret_cast<std::byte const*>(w.blocks_of_row(o)) + here.k * sizeof(bf16);
    auto const row = p.in * sizeof(bf16);
    auto const steps = here.steps();
    auto const whole = count == Outputs * side ? here.depth / length : 0;
    auto const* x = rows.x;
    auto const lines = (Outputs * side + rows.groups - 1) / rows.groups;
    auto line = rows.index * steps * lines;
    auto k = std::size_t{0};
    for (; k < whole; ++k, x += Rows * side * side, line += lines) {
      add<Outputs, Rows>(x, [&](std::size_t tile) TESSERA_INLINE {
        return place{from + tile * side * row + k * row_bytes, row};
      });
      before.step();
      fetch<Outputs>(here, from, row, line, lines);
    }
    alignas(64) std::byte parts[Outputs * lane::tile_bytes];
    for (; k < steps; ++k, x += Rows * side * side) {
      put_weights<Outputs>(here, from, row, count, k, parts);
      add<Outputs, Rows>(x, [&](std::size_t tile) TESSERA_INLINE {
        return place{parts + tile * lane::tile_bytes, row_bytes};
      });
    }
    before.end();
    for_sums<Outputs, Rows>(before.of_tiles, []<int Tile>(float* to) {
      lane::store_tile<Tile>(to, sums_row * sizeof(float));
    });
    before.begin(count, rows.count, p.y + (here.row + rows.first) * p.y_row + o, p.y_row);
  }
  struct place {
    std::byte const* first;
    std::size_t row;
  };
  /// Tiles 0 to 3 are sums, 4 and 5 weights, 6 and 7 x.
  template <int Outputs, int Rows>
  TESSERA_INLINE void add(float const* x, auto const& weights) const {
    auto const load = [&]<int Tile>(place const& at)
                          TESSERA_INLINE { lane::load_tile<Tile>(at.first, at.row); };
    load.template operator()<4>(weights(0));
    lane::load_tile<6>(x, row_bytes);
    lane::add_tile_of_pairs<0, 4, 6>();
    if constexpr (Rows == 2) {
      lane::load_tile<7>(x + side * side, row_bytes);
      lane::add_tile_of_pairs<1, 4, 7>();
    }
    if constexpr (Outputs == 2) {
      load.template operator()<5>(weights(1));
      lane::add_tile_of_pairs<2, 5, 6>();
      if constexpr (Rows == 2) lane::add_tile_of_pairs<3, 5, 7>();
    }
  }
  /// Calls f(tile, sum) for each tile of sums, whose first number is in of_tiles there.
  template <int Outputs, int Rows>
  TESSERA_INLINE static void for_sums(float* of_tiles, auto const& f) {
    f.template operator()<0>(of_tiles);
    if constexpr (Rows == 2) f.template operator()<1>(of_tiles + side);
    if constexpr (Outputs == 2) {
      f.template operator()<2>(of_tiles + side * sums_row);
      if constexpr (Rows == 2) f.template operator()<3>(of_tiles + side * sums_row + side);
    }
  }
  /// Tiles of sums as they begin: zeros, the bias, or what y has.
  template <int Outputs, int Rows>
  void start(part const& here, rows_here const& rows, std::size_t o, std::size_t count,
             turning& before) const {
    if (here.k == 0 && p.bias == nullptr) {
      for_sums<Outputs, Rows>(before.of_tiles, []<int Tile>(float*) { lane::zero_tile<Tile>(); });
      return;
    }
    alignas(64) sums of_tiles = {};
    if (here.k > 0)
      lane::copy_turned(rows.count, count, p.y + (here.row + rows.first) * p.y_row + o, p.y_row,
                        of_tiles, sums_row);
    else
      for (auto i = std::size_t{0}; i < count; ++i)
        for (auto r = std::size_t{0}; r < Rows * side; ++r)
          of_tiles[i * sums_row + r] = p.bias[o + i];
    for_sums<Outputs, Rows>(of_tiles, []<int Tile>(float* from) {
      lane::load_tile<Tile>(from, sums_row * sizeof(float));
    });
  }
  /// Weights that fill no tile, and zeros.
  template <int Outputs>
  static void put_weights(part const& here, std::byte const* from, std::size_t row,
                          std::size_t count, std::size_t k, std::byte* to) {
    std::memset(to, 0, Outputs * lane::tile_bytes);
    auto const bytes = std::min(row_bytes, here.depth * sizeof(bf16) - k * row_bytes);
    for (auto r = std::size_t{0}; r < count; ++r)
      std::memcpy(to + r * row_bytes, from + r * row + k * row_bytes, bytes);
  }
  /// Asks for some lines of the next panel.
  template <int Outputs>
  TESSERA_INLINE void fetch(part const& here, std::byte const* from, std::size_t row,
                            std::size_t first, std::size_t count) const {
    auto const* const next = from + Outputs * side * row;
    if (here.depth == p.in)  // one after another
      for (auto i = first; i < first + count; ++i) lane::fetch(next + i * row_bytes);
    else
      for (auto i = first; i < first + count; ++i)
        lane::fetch(next + i % (Outputs * side) * row + i / (Outputs * side) * row_bytes);
  }
};

}  // namespace tessera::detail::inline TESSERA_TARGET
#endif
