// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/matrix_unit.hpp>
#include <tessera/ops/reference/block_product.hpp>
#include <tessera/ops/simd/turned_numbers.hpp>

#include <cstddef>

/// Rows of y and outputs side by side that go on with some blocks: the inner loops of
/// block_product.hpp.
namespace tessera::detail::inline TESSERA_TARGET {

/// sum and the products of blocks with a block of x, whose bytes have these products together.
template <class Turned>
[[nodiscard]] TESSERA_INLINE inline auto add_scaled(Turned const& w, lane::words products,
                                                    rounded_block const& x, lane::pack<float> sum)
    -> lane::pack<float> {
  using V = lane::pack<float>;
  auto total = lane::to_float(products);
  // Whole numbers below 2^24, and so exact.
  if constexpr (Turned::offset != 0)
    total = fma(V(static_cast<float>(-Turned::offset)), V(x.sum), total);
  sum = fma(w.d, total * V(x.scale), sum);
  if constexpr (Turned::has_minimum) sum = fma(w.m, V(x.scaled_sum), sum);
  return sum;
}
template <class Turned>
[[nodiscard]] TESSERA_INLINE inline auto add_scaled(Turned const& w,
                                                    typename Turned::sums const& products,
                                                    rounded_block const& x, lane::pack<float> sum)
    -> lane::pack<float> {
  return add_scaled(w, products.total(), x, sum);
}

/// What sums of a block start from: whole numbers from zero, pairs from where the sum of blocks is.
template <class Turned>
[[nodiscard]] TESSERA_INLINE inline auto started_sums([[maybe_unused]] lane::pack<float> sum) ->
    typename Turned::sums {
  if constexpr (Turned::has_scale)
    return {lane::words(0U)};
  else
    return {sum};
}
template <class Turned>
[[nodiscard]] TESSERA_INLINE inline auto add_scaled(Turned const&,
                                                    lane::sum_of_pairs const& products,
                                                    rounded_pairs const&, lane::pack<float>)
    -> lane::pack<float> {
  return products.value;
}
/// Word k of a block of x.
[[nodiscard]] TESSERA_INLINE inline auto word_of(rounded_block const& x, std::size_t k)
    -> void const* {
  return x.quants + 4 * k;
}
[[nodiscard]] TESSERA_INLINE inline auto word_of(rounded_pairs const& x, std::size_t k)
    -> void const* {
  return x.numbers + 2 * k;
}

/// What sums start from: rows of y, or one row for all of them.
struct block_start {
  float const* first;
  std::size_t row;  ///< the distance of two rows, or 0
};

/// Rows of y and vectors of outputs, that go on with some blocks. Blocks of x lie by their number,
/// those of all rows side by side, so that one address serves the rows.
template <class Format, std::size_t Rows, std::size_t Panels> struct block_tile {
  using V = lane::pack<float>;
  using turned = turned_numbers<Format>;
  using rounded = rounded_for<Format>;
  static constexpr auto width = V::width;

  rounded const* x;
  float* y;
  std::size_t y_row;
  std::size_t blocks;
  block_start start;

  /// Of what weights(b, p) points to: block b of vector p. Word k of a block's eight is followed by
  /// between(k).
  TESSERA_INLINE void run(auto const& weights, auto const& between) const {
    V sum[Rows][Panels];
    each([&](std::size_t r, std::size_t p)
             TESSERA_INLINE { sum[r][p] = lane::load(start.first + r * start.row + p * width); });
    auto const* here = x;
    for (auto b = std::size_t{0}; b < blocks; ++b, here += Rows) {
      typename turned::sums products[Rows][Panels];
      each([&](std::size_t r, std::size_t p)
               TESSERA_INLINE { products[r][p] = started_sums<turned>(sum[r][p]); });
      turned const* w[Panels];
#pragma GCC unroll 2
      for (auto p = std::size_t{0}; p < Panels; ++p) w[p] = weights(b, p);
#pragma GCC unroll 8
      for (auto k = std::size_t{0}; k < 8; ++k) {
#pragma GCC unroll 8
        for (auto r = std::size_t{0}; r < Rows; ++r) {
          auto const* const four = word_of(here[r], k);
          if constexpr (Panels == 1) {
            products[r][0].add_splat(w[0]->quants[k], four);
          } else {
            auto const word = lane::splat_word(four);
#pragma GCC unroll 2
            for (auto p = std::size_t{0}; p < Panels; ++p)
              products[r][p].add(w[p]->quants[k], word);
          }
        }
        between(k);
      }
      each([&](std::size_t r, std::size_t p) TESSERA_INLINE {
        sum[r][p] = add_scaled(*w[p], products[r][p], here[r], sum[r][p]);
      });
    }
    each([&](std::size_t r, std::size_t p)
             TESSERA_INLINE { lane::store(y + r * y_row + p * width, sum[r][p]); });
  }

 private:
  static TESSERA_INLINE void each(auto const& f) {
#pragma GCC unroll 8
    for (auto r = std::size_t{0}; r < Rows; ++r) {
#pragma GCC unroll 2
      for (auto p = std::size_t{0}; p < Panels; ++p) f(r, p);
    }
  }
};

#if TESSERA_MATRIX_UNIT
/// The same for 16 rows and one vector of as many outputs, whose bytes a matrix unit adds.
template <class Format> struct block_tile_by_unit {
  using V = lane::pack<float>;
  using turned = turned_numbers<Format>;
  static constexpr auto rows = lane::tile_rows;
  /// Blocks whose products are in memory: those of one are asked for before the ones before it
  /// count.
  static constexpr auto at_once = std::size_t{2};

  rounded_block const* x;
  float* y;
  std::size_t y_row;
  std::size_t blocks;
  block_start start;

  TESSERA_INLINE void run(turned const* weights) const {
    V sum[rows];
#pragma GCC unroll 16
    for (auto r = std::size_t{0}; r < rows; ++r) sum[r] = lane::load(start.first + r * start.row);
    alignas(64) float products[at_once][rows * V::width];
    multiply(weights, 0, products[0]);
    for (auto b = std::size_t{0}; b < blocks; ++b) {
      if (b + 1 < blocks) multiply(weights, b + 1, products[(b + 1) % at_once]);
      auto const* const here = x + b * rows;
      auto const* const of_block = products[b % at_once];
#pragma GCC unroll 16
      for (auto r = std::size_t{0}; r < rows; ++r)
        sum[r] =
            add_scaled(weights[b], as_bits(lane::load(of_block + r * V::width)), here[r], sum[r]);
    }
#pragma GCC unroll 16
    for (auto r = std::size_t{0}; r < rows; ++r) lane::store(y + r * y_row, sum[r]);
  }

 private:
  /// Whole numbers, in the bits of floats.
  TESSERA_INLINE void multiply(turned const* weights, std::size_t b, float* products) const {
    lane::zero_tile<0>();
    lane::load_tile<4>(x[b * rows].quants, sizeof(rounded_block));
    lane::load_tile<6>(weights[b].quants, sizeof(lane::words));
    lane::add_tile_of_bytes<0, 4, 6>();
    lane::store_tile<0>(products, V::width * sizeof(float));
  }
};
#endif

}  // namespace tessera::detail::inline TESSERA_TARGET
