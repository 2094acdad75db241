// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/sharing.hpp>
#include <tessera/backend/simd/matrix_unit.hpp>
#include <tessera/ops/reference/block_product.hpp>
#include <tessera/ops/simd/block_tile.hpp>
#include <tessera/ops/simd/turned_numbers.hpp>
#include <tessera/ops/simd/widened_product.hpp>
#include <tessera/tensor/simd/reduction.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <type_traits>
#include <utility>

/// The product of ops/reference/block_product.hpp by vectors of outputs: the same bits.
///
/// A block of as many outputs as a vector has lanes is turned while it is read: lane o has four
/// bytes of output o, and meets the same four of x in all lanes. What is turned serves all rows, or
/// eight of up to 24 (with AVX-512, and of pairs with AVX2). Pairs with more rows go by floats
/// where these are faster (widened_product.hpp). Where vectors have 16 lanes (and, with 8 bits,
/// VNNI), a block that is turned is a tile of a matrix unit, too, as 16 rows of x are: a processor
/// that has one adds their bytes.
namespace tessera::detail::inline TESSERA_TARGET {

/// Of numbers none of which is a NaN.
struct takes_larger_number {
  template <class V> [[nodiscard]] static TESSERA_INLINE auto join(V a, V b) -> V {
    return max(a, b);
  }
};

/// round_block by vectors: the same bits. Sums of quants are exact as numbers.
TESSERA_INLINE inline void round_block_by_vectors(float const* x, rounded_block& to) {
  using V = lane::pack<float>;
  constexpr auto vectors = block_length / V::width;
  V numbers[vectors];
  auto largest = V(0.0F);
  auto finite = lane::mask<float>(true);
#pragma GCC unroll 8
  for (auto v = std::size_t{0}; v < vectors; ++v) {
    numbers[v] = lane::load(x + v * V::width);
    auto const magnitude = abs(numbers[v]);
    finite = finite && magnitude <= V(std::numeric_limits<float>::max());
    largest = max(magnitude, largest);
  }
  auto const most = folded_lanes<takes_larger_number, V::width / 2>(largest);
  auto const [scale, inverse] = scale_of_block(most, xsimd::all(finite.value));
  if (inverse == 0) {
    to = rounded_block{.quants = {}, .scale = scale, .sum = 0.0F, .scaled_sum = scale * 0.0F};
    return;
  }
  auto sums = V(0.0F);
#pragma GCC unroll 8
  for (auto v = std::size_t{0}; v < vectors; ++v) {
    auto const whole = lane::nearest(numbers[v] * V(inverse));
    lane::store_low_bytes(to.quants + v * V::width, whole.bits);
    sums = sums + whole.value;
  }
  auto const sum = folded_lanes<reductions::adds, V::width / 2>(sums);
  to.scale = scale;
  to.sum = sum;
  to.scaled_sum = scale * sum;
}

template <std::same_as<rounded_pairs> Rounded>
TESSERA_INLINE inline void round_block_by_vectors(float const* x, Rounded& to) {
  constexpr auto width = lane::pack<float>::width;
#pragma GCC unroll 4
  for (auto k = std::size_t{0}; k < numbers_of_block<bf16_pairs>; k += width)
    lane::store_normal(to.numbers + k, lane::load(x + k));
}

/// Equal parts of n, of `most` at most.
[[nodiscard]] constexpr auto equal_parts(std::size_t n, std::size_t most) -> std::size_t {
  auto const parts = (n + most - 1) / most;
  return parts == 0 ? 1 : (n + parts - 1) / parts;
}

/// As ops/reference/block_product.hpp; outputs that fill no vector are left to it.
///
/// Cost  64 KiB of stack at most, 16 where a vector has four lanes; x is rounded once for every
///       2 MiB of weights, or with few rows once
template <class Stored> struct block_kernel {
  using format = block_format_of<Stored>;
  using turned = turned_numbers<format>;
  using rounded = rounded_for<format>;
  static constexpr auto width = lane::pack<float>::width;
  static constexpr auto length = numbers_of_block<format>;
  /// As many as there are registers for beside the weights.
  static constexpr auto few_rows =
      std::size_t{width == 16 || (width == 8 && is_pairs<Stored>) ? 8 : 3};
  /// So many read the weights again for every few of them: what is turned between products costs
  /// little, and tiles for many rows are half empty.
  static constexpr auto most_by_few = few_rows == 8 ? 3 * few_rows : few_rows;
  static constexpr auto stack = stack_of_turned;
  /// By vectors, with two of outputs: a Zen 5 begins two products of pairs in a cycle, each of
  /// which takes six, so eight sums would be two thirds of its rate.
  static constexpr auto rows_of_tile = std::size_t{width == 16 && is_pairs<Stored> ? 8 : 4};

  /// Bytes without a sign, in tiles: those of x have one.
  static constexpr auto fills_tiles = [] {
    if constexpr (is_pairs<Stored> || width != 16 || TESSERA_MATRIX_UNIT == 0)
      return false;
    else
      return not turned::is_8_bits || turned::sums::raised != 0;
  }();

  block_product const& p;
  weight_matrix<float, Stored> const& w;
  std::size_t blocks = p.in / length;
  std::size_t whole = p.out / width * width;

  void run() const {
    if constexpr (is_pairs<Stored>)
      run(lane::widens_pairs());
    else if constexpr (fills_tiles)
      run(p.rows >= lane::tile_rows && lane::has_matrix_unit());
    else
      run_by_vectors();
  }
  /// Blocks, by a matrix unit, which many rows are for, or by vectors: the same bits.
  void run(bool by_unit) const
    requires fills_tiles
  {
#if TESSERA_MATRIX_UNIT
    if (by_unit) {
      auto const in_use = lane::tiles_in_use<length>();
      return by_many_rows<most_rows_of_turned, 2, lane::tile_rows>();
    }
#endif
    run_by_vectors();
  }
  /// Pairs, with many rows as floats or as they are: the same bits.
  void run(bool widened) const
    requires is_pairs<Stored>
  {
    if constexpr (not lane::zero_subnormals::possible) {
      p.run(w);
    } else if (widened && p.rows > most_by_few) {
      auto const zeros = lane::zero_subnormals();
      widened_product<Stored>{p, w}.run();
    } else if constexpr (lane::multiplies_pairs) {
      run_by_vectors();
    } else {
      auto const zeros = lane::zero_subnormals();
      by_few_after_few();
    }
  }

 private:
  void run_by_vectors() const {
    if (p.rows <= most_by_few) return by_few_after_few();
    if constexpr (few_rows < 8)
      if (p.rows <= 8) return by_many_rows<8, 1>();
    by_many_rows<most_rows_of_turned, 2, rows_of_tile>();
  }
  /// Blocks of the rows of a tile.
  void round(std::size_t row, std::size_t rows, std::size_t b, std::size_t count,
             rounded* to) const {
    for (auto r = std::size_t{0}; r < rows; ++r)
      for (auto i = std::size_t{0}; i < count; ++i)
        round_block_by_vectors(p.x + (row + r) * p.in + (b + i) * length, to[i * rows + r]);
  }
  /// Weights are turned as they are read, for all of few_rows at once.
  void by_few_rows() const {
    constexpr auto most = stack / sizeof(rounded);
    rounded x[most];
    auto const step = equal_parts(blocks, most / std::max<std::size_t>(p.rows, 1));
    fetch_first_vector();
    for (auto b = std::size_t{0}; b < blocks; b += step) {
      auto const count = std::min(step, blocks - b);
      round(0, p.rows, b, count, x);
      read_rows(x, b, count, std::make_index_sequence<few_rows>{});
      leave(x, 0, p.rows, b, count);
    }
  }
  void by_few_after_few() const {
    auto const step = equal_parts(p.rows, few_rows);
    for (auto row = std::size_t{0}; row < p.rows; row += step) {
      auto few = p;
      few.rows = std::min(step, p.rows - row);
      few.x += row * p.in;
      few.y += row * p.y_row;
      block_kernel{few, w}.by_few_rows();
    }
  }
  template <std::size_t... Before>
  void read_rows(rounded const* x, std::size_t b, std::size_t count,
                 std::index_sequence<Before...>) const {
    (void)((p.rows == Before + 1 && (read_once<Before + 1>(x, b, count), true)) || ...);
  }
  template <std::size_t Rows>
  [[gnu::noinline]] void read_once(rounded const* x, std::size_t b, std::size_t count) const {
    // In parts, and more than stays until the next one: each part asks for its own.
    auto const asks = count < blocks && whole * blocks * sizeof(format) > part_bytes_of_turned
                          ? questions{0, width, count}
                          : questions{asks_for(b, count)};
    for (auto o = std::size_t{0}; o < whole; o += width) {
      auto const* const from = blocks_at(o, b);
      auto const tile = block_tile<format, Rows, 1>{x, p.y + o, p.y_row, count, start_of(0, o, b)};
      // The next block is turned between the products with this one. Before or after them it waits:
      // registers and places for what is begun do not suffice for both.
      auto here = turned();
      auto next = turning_numbers<format>();
      next.result = turned(from, p.in);
      tile.run(
          [&](std::size_t i, std::size_t) TESSERA_INLINE {
            fetch<1>(from, i, asks);
            here = next.result;
            next = turning_numbers<format>(from + std::min(i + 1, count - 1), p.in);
            return &here;
          },
          [&](std::size_t k) TESSERA_INLINE { next.step(k); });
    }
  }
  /// Turned weights of some vectors of outputs stay in the first levels of the cache for as many
  /// rows as do. For fewer rows there is room for more blocks at a time, each read as it lies. What
  /// is read more than once, for more rows or in parts, goes by outputs that stay near
  /// (part_bytes_of_turned).
  template <std::size_t MostRows, std::size_t Panels, std::size_t Group = 4>
  void by_many_rows() const {
    auto const rows =
        std::min(MostRows, (equal_parts(p.rows, MostRows) + Group - 1) / Group * Group);
    constexpr auto room =
        stack - (Group == lane::tile_rows ? 2 * lane::tile_bytes : 0);  // for sums of tiles
    auto const most = room / (rows * sizeof(rounded) + Panels * sizeof(turned));
    alignas(turned) std::byte memory[room];
    auto* const weights = new (memory) turned[Panels * most];
    auto* const x = new (memory + Panels * most * sizeof(turned)) rounded[rows * most];
    auto const step = equal_parts(blocks, most);
    auto const once = p.rows <= rows && step >= blocks;
    auto const outputs = once ? whole : outputs_of_part(Panels * width);
    auto o = share{0, std::min(outputs, whole)};
    for (auto goes_on = true; goes_on; goes_on = o.count > 0) {
      for (auto b = std::size_t{0}; b < blocks; b += step)
        for (auto row = std::size_t{0}; row < p.rows; row += rows)
          turn_part<Panels, Group>(x, weights, {row, std::min(rows, p.rows - row)}, o,
                                   {b, std::min(step, blocks - b)});
      o = {o.first + o.count, std::min(outputs, whole - o.first - o.count)};
    }
  }
  /// Outputs whose weights take part_bytes_of_turned at most, but for a last unit.
  [[nodiscard]] auto outputs_of_part(std::size_t unit) const -> std::size_t {
    auto const most =
        std::max<std::size_t>(part_bytes_of_turned / (blocks * sizeof(format) * unit), 1);
    return equal_parts((whole + unit - 1) / unit, most) * unit;
  }
  /// Calls f(r, size) for rows that lie side by side: as many as Group, four, or one.
  template <std::size_t Group> static void for_groups(std::size_t rows, auto const& f) {
    auto r = std::size_t{0};
    if constexpr (Group > 4)
      for (; r + Group <= rows; r += Group) f(r, Group);
    for (; r + 4 <= rows; r += 4) f(r, std::size_t{4});
    for (; r < rows; ++r) f(r, std::size_t{1});
  }
  /// Rows and outputs that go on with blocks.
  template <std::size_t Panels, std::size_t Group>
  void turn_part(rounded* x, turned* weights, share const& rows, share const& outputs,
                 share const& b) const {
    for_groups<Group>(rows.count, [&](std::size_t r, std::size_t size) {
      round(rows.first + r, size, b.first, b.count, x + r * b.count);
    });
    auto const end = outputs.first + outputs.count;
    auto o = outputs.first;
    for (; o + Panels * width <= end; o += Panels * width)
      turn_once<Panels, Group>(x, weights, rows, o, b);
    if (o < end) turn_once<1, Group>(x, weights, rows, o, b);
    if (end < whole) return;
    for_groups<Group>(rows.count, [&](std::size_t r, std::size_t size) {
      leave(x + r * b.count, rows.first + r, size, b.first, b.count);
    });
  }
  template <std::size_t Panels, std::size_t Group>
  void turn_once(rounded const* x, turned* weights, share const& rows, std::size_t o,
                 share const& b) const {
    auto const tiles_here = tiles_ask && Group != lane::tile_rows ? rows.count / Group : 0;
    auto const ahead = tiles_here < least_tiles_that_ask
                           ? next_panel{}
                           : next_panel{blocks_at(o + Panels * width, b.first),
                                        (Panels * width + tiles_here - 1) / tiles_here};
    // What the first part has asked for is no nearer than a third level where all of it is large.
    auto const is_near = b.first == 0 || whole * blocks * sizeof(format) < tiles::large;
    auto const asks = is_near ? questions{asks_for(b.first, b.count)}
                              : questions{.each = 0, .rows = width, .count = b.count};
    for (auto v = std::size_t{0}; v < Panels; ++v) {
      auto const* const from = blocks_at(o + v * width, b.first);
      for (auto i = std::size_t{0}; i < b.count; ++i) {
        if (ahead.first == nullptr) fetch<Panels>(from, i, asks);
        if constexpr (tiles_ask)
          turn_to(weights[v * b.count + i], from + i, p.in);
        else
          weights[v * b.count + i] = turned(from + i, p.in);
      }
    }
    auto const go_on = [&]<std::size_t Rows>(std::size_t first, std::size_t count,
                                             next_panel const& asked = {}) {
      multiply<Rows, Panels>(x + first * b.count, weights, p.y + (rows.first + first) * p.y_row + o,
                             count, b.count, start_of(rows.first + first, o, b.first), asked);
    };
    auto const first = rows.count / Group * Group;
    go_on.template operator()<Group>(0, first, ahead);
    auto const fours = (rows.count - first) / 4 * 4;
    if constexpr (Group > 4) go_on.template operator()<4>(first, fours);
    go_on.template operator()<1>(first + fours, rows.count - first - fours);
  }
  /// Weights that tiles ask for while they multiply: each for some rows, block after block, and the
  /// next tile for the rows behind them. Fewer tiles are done before memory has answered; so the
  /// weights are asked for when others are turned, as always with AVX2, where tiles that ask gain
  /// nothing.
  struct next_panel {
    format const* first = nullptr;
    std::size_t rows_of_tile = 0;
  };
  static constexpr auto tiles_ask = width == 16;
  static constexpr auto least_tiles_that_ask = std::size_t{4};
  template <std::size_t Rows, std::size_t Panels>
  // NOLINTNEXTLINE(readability-non-const-parameter): written
  [[gnu::noinline]] void multiply(rounded const* x, turned const* weights, float* y,
                                  std::size_t rows, std::size_t count, block_start start,
                                  next_panel ahead) const {
    for (auto r = std::size_t{0}; r < rows;
         r += Rows, x += Rows * count, y += Rows * p.y_row, start.first += Rows * start.row) {
#if TESSERA_MATRIX_UNIT
      if constexpr (Rows == lane::tile_rows) {
        for (auto v = std::size_t{0}; v < Panels; ++v)
          block_tile_by_unit<format>{
              x, y + v * width, p.y_row, count, {start.first + v * width, start.row}}
              .run(weights + v * count);
        continue;
      }
#endif
      block_tile<format, Rows, Panels>{x, y, p.y_row, count, start}.run(
          [&](std::size_t i, std::size_t v) TESSERA_INLINE {
            if constexpr (tiles_ask)
              for (auto row = std::size_t{0}; v == 0 && row < ahead.rows_of_tile; ++row)
                lane::fetch(ahead.first + row * blocks + i);
            return weights + v * count + i;
          },
          [](std::size_t) {});
      ahead.first += ahead.rows_of_tile * blocks;
    }
  }
  /// Before block b, from a row and an output on.
  [[nodiscard]] auto start_of(std::size_t row, std::size_t o, std::size_t b) const -> block_start {
    alignas(64) static constexpr float zeros[2 * width] = {};
    if (b > 0) return {p.y + row * p.y_row + o, p.y_row};
    return {p.bias == nullptr ? zeros : p.bias + o, 0};
  }
  /// What `count` blocks of a vector of outputs ask for.
  struct questions {
    std::size_t each;      ///< so many blocks of all, in their order, ask each of them for
    std::size_t rows = 0;  ///< or for their own part of later rows: the vector's length, or 0
    std::size_t count = 1;
  };
  /// How many blocks each block asks for: where they are read in parts, the first part asks for all
  /// of them, in their order.
  [[nodiscard]] auto asks_for(std::size_t b, std::size_t count) const -> std::size_t {
    return b > 0 ? 0 : (blocks + count - 1) / count;
  }
  /// Asks for what comes after block i of a vector of outputs.
  template <std::size_t Vectors>
  TESSERA_INLINE void fetch(format const* first, std::size_t i, questions const& asks) const {
    for (auto k = i * asks.each; k < (i + 1) * asks.each; ++k)
      fetch_ahead<width * sizeof(format), Vectors>(first + k * width, blocks * sizeof(format));
    if (asks.rows == 0) [[likely]]
      return;  // and no division for each block
    for (auto r = i * asks.rows / asks.count; r < (i + 1) * asks.rows / asks.count; ++r) {
      auto const* const ahead =
          reinterpret_cast<std::byte const*>(first + (r + 2 * Vectors * width) * blocks);
      for (auto line = std::size_t{0}; line < asks.count * sizeof(format); line += 64)
        lane::fetch(ahead + line);
    }
  }
  /// Asks for the first vector of outputs, and what it does not ask for itself, before x is
  /// rounded.
  TESSERA_INLINE void fetch_first_vector() const {
    auto const* const first = reinterpret_cast<std::byte const*>(blocks_at(0, 0));
    auto const bytes = std::min(width * blocks * sizeof(format) + bytes_until_answered,
                                p.out * blocks * sizeof(format));
    for (auto line = std::size_t{0}; line < bytes; line += 64) lane::fetch(first + line);
  }
  /// The blocks of output o from block b on; those of the next output are `blocks` further.
  [[nodiscard]] auto blocks_at(std::size_t o, std::size_t b) const -> format const* {
    return w.blocks_of_row(o) + b;
  }
  /// Outputs behind the last vector, for the rows of a tile.
  void leave(rounded const* x, std::size_t row, std::size_t rows, std::size_t b,
             std::size_t count) const {
    if (whole == p.out) return;
    if (b == 0) p.begin(row, rows, whole);
    for (auto r = std::size_t{0}; r < rows; ++r) p.add(w, row + r, whole, b, count, x + r, rows);
  }
};

}  // namespace tessera::detail::inline TESSERA_TARGET
