// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/matrix_unit.hpp>
#include <tessera/ops/reference/block_product.hpp>
#include <tessera/ops/simd/turned_numbers.hpp>

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
/// side by side, and y comes out turned.
///
/// Accuracy  (In/32 + 18)·eps·(sum|x·w| + |bias|) of the sum, and 2^-9·sum|x·w| by rounding x
/// Cost      64 KiB of stack at most, 16 where a vector has four lanes; x is rounded once for every
///           2 MiB of weights, and all weights are read for every 32 rows
template <class Stored> struct pair_product_by_tiles {
  static constexpr auto side = lane::tile_rows;
  /// Numbers of a row of x in a tile.
  static constexpr auto length = 2 * side;
  static constexpr auto row_bytes = length * sizeof(bf16);
  /// Tiles of weights, and of x, at a time.
  static constexpr auto at_once = std::size_t{2};

  block_product const& p;
  weight_matrix<float, Stored> const& w;

  void run() const {
    constexpr auto scratch = at_once * (at_once + 1) * lane::tile_bytes;
    constexpr auto most = (stack_of_turned - scratch) / lane::tile_bytes;
    alignas(64) float x[most * side * side];
    auto const in_use = lane::tiles_in_use();
    auto const rows = p.rows <= side ? side : at_once * side;
    auto const steps = (p.in + length - 1) / length;
    auto const depth = tiles::part(steps, most * side / rows, 1) * length;
    auto const panel = at_once * side;
    auto const outputs =
        p.rows <= rows
            ? p.out
            : std::max(part_bytes_of_turned / (p.in * sizeof(bf16)) / panel, std::size_t{1}) *
                  panel;
    for (auto o = std::size_t{0}; o < p.out; o += outputs)
      for (auto row = std::size_t{0}; row < p.rows; row += rows)
        for (auto k = std::size_t{0}; k < p.in; k += depth) {
          auto const here = part{.row = row,
                                 .rows = std::min(rows, p.rows - row),
                                 .k = k,
                                 .depth = std::min(depth, p.in - k)};
          multiply(here, {o, std::min(outputs, p.out - o)}, x);
        }
  }

 private:
  struct part {
    std::size_t row, rows;
    std::size_t k, depth;
  };
  using sums = float[at_once * side * at_once * side];

  void multiply(part const& here, share const& outputs, float* x) const {
    auto const is_wide = here.rows > side;
    for (auto r = std::size_t{0}; r < here.rows; r += side)
      put_rows(here, r, is_wide ? 2 : 1, x + r * side);
    auto const end = outputs.first + outputs.count;
    for (auto o = outputs.first; o < end; o += at_once * side)
      if (is_wide)
        end - o > side ? run_panel<2, 2>(here, o, x) : run_panel<1, 2>(here, o, x);
      else
        end - o > side ? run_panel<2, 1>(here, o, x) : run_panel<1, 1>(here, o, x);
  }
  /// Tiles of 16 rows of x, `apart` of one another: pairs, turned. Rows that x lacks are zeros.
  [[gnu::noinline]] void put_rows(part const& here, std::size_t first, std::size_t apart,
                                  float* to) const {
    constexpr auto width = lane::pack<float>::width;
    auto const rows = std::min(side, here.rows - first);
    bf16 rounded[side * length] = {};
    alignas(64) float pairs[side * side];
    for (auto k = std::size_t{0}; k < here.depth; k += length, to += apart * side * side) {
      auto const count = std::min(length, here.depth - k);
      if (count < length)
        for (auto& number : rounded) number = bf16{};
      for (auto r = std::size_t{0}; r < rows; ++r) {
        auto const* const from = p.x + (here.row + first + r) * p.in + here.k + k;
        for (auto i = std::size_t{0}; i < count; i += width)
          lane::store_normal(rounded + r * length + i, lane::load(from + i));
      }
      std::memcpy(pairs, rounded, sizeof pairs);
      lane::copy_turned(side, side, pairs, side, to, side);
    }
  }
  /// Outputs of some tiles from o on, for tiles of x.
  template <int Outputs, int Rows>
  [[gnu::noinline]] void run_panel(part const& here, std::size_t o, float const* x) const {
    auto const count = std::min(Outputs * side, p.out - o);
    alignas(64) sums of_tiles;
    start<Outputs, Rows>(here, o, count, of_tiles);
    auto const* const from =
        reinterpret_cast<std::byte const*>(w.blocks_of_row(o)) + here.k * sizeof(bf16);
    auto const row = p.in * sizeof(bf16);
    auto const steps = (here.depth + length - 1) / length;
    auto const whole = count == Outputs * side ? here.depth / length : 0;
    auto k = std::size_t{0};
    for (; k < whole; ++k, x += Rows * side * side) {
      add<Outputs, Rows>(x, [&](std::size_t tile) TESSERA_INLINE {
        return place{from + tile * side * row + k * row_bytes, row};
      });
      if (here.row == 0) fetch<Outputs>(here, from, row, k);
    }
    alignas(64) std::byte parts[Outputs * lane::tile_bytes];
    for (; k < steps; ++k, x += Rows * side * side) {
      put_weights<Outputs>(here, from, row, count, k, parts);
      add<Outputs, Rows>(x, [&](std::size_t tile) TESSERA_INLINE {
        return place{parts + tile * lane::tile_bytes, row_bytes};
      });
    }
    finish<Outputs, Rows>(here, o, count, of_tiles);
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
      f.template operator()<2>(of_tiles + side * at_once * side);
      if constexpr (Rows == 2) f.template operator()<3>(of_tiles + side * at_once * side + side);
    }
  }
  static constexpr auto sums_row = at_once * side * sizeof(float);

  template <int Outputs, int Rows>
  void start(part const& here, std::size_t o, std::size_t count, float* of_tiles) const {
    if (here.k == 0 && p.bias == nullptr)
      return for_sums<Outputs, Rows>(of_tiles, []<int Tile>(float*) { lane::zero_tile<Tile>(); });
    std::memset(of_tiles, 0, sizeof(sums));
    if (here.k > 0)
      lane::copy_turned(here.rows, count, p.y + here.row * p.y_row + o, p.y_row, of_tiles,
                        at_once * side);
    else
      for (auto i = std::size_t{0}; i < count; ++i)
        for (auto r = std::size_t{0}; r < Rows * side; ++r)
          of_tiles[i * at_once * side + r] = p.bias[o + i];
    for_sums<Outputs, Rows>(of_tiles,
                            []<int Tile>(float* from) { lane::load_tile<Tile>(from, sums_row); });
  }
  template <int Outputs, int Rows>
  void finish(part const& here, std::size_t o, std::size_t count, float* of_tiles) const {
    for_sums<Outputs, Rows>(of_tiles,
                            []<int Tile>(float* to) { lane::store_tile<Tile>(to, sums_row); });
    lane::copy_turned(count, here.rows, of_tiles, at_once * side, p.y + here.row * p.y_row + o,
                      p.y_row);
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
  /// Asks for what the next panel has in place of step k.
  template <int Outputs>
  TESSERA_INLINE void fetch(part const& here, std::byte const* from, std::size_t row,
                            std::size_t k) const {
    auto const* const next = from + Outputs * side * row;
    if (here.depth == p.in) {  // one after another
#pragma GCC unroll 32
      for (auto i = std::size_t{0}; i < Outputs * side; ++i)
        lane::fetch(next + (k * Outputs * side + i) * row_bytes);
    } else {
#pragma GCC unroll 32
      for (auto i = std::size_t{0}; i < Outputs * side; ++i)
        lane::fetch(next + i * row + k * row_bytes);
    }
  }
};

}  // namespace tessera::detail::inline TESSERA_TARGET
#endif
