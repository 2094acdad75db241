// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/lane.hpp>
#include <tessera/ops/reference/pair_product.hpp>
#include <tessera/tensor/weights.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

/// y = b + x·Wᵀ, of weights in blocks that are multiplied as they are stored: what the result is.
///
/// A row of x is rounded to blocks of 32 numbers in 8 bits with a scale. The products of a block of
/// x and one of W add as whole numbers, exactly, and count with both scales. So the order of a
/// block's products is free, and every kernel has these bits.
///
///   t = sum of q·p over the block;  y += d·(s·t), and, of q4_1, y += m·(s·sum of p)
///
/// where x is s·p, and W is d·q + m. A number of y starts from the bias and adds over the blocks
/// ascending, one fused multiply-add for each line.
///
/// Of bf16 stored as it is: ops/reference/pair_product.hpp.
///
/// Accuracy  that of the sum, with blocks·eps, and of rounding x: half a step of a block, which is
///           its largest magnitude over 254, times the magnitudes of its weights
/// Source    the idea is ggml's; there scales of x are in 16 bits, and sums in another order
namespace tessera::detail::inline TESSERA_TARGET {

/// 32 numbers as scale·quants, to the nearest, ties to even.
///
/// Numbers below 2^-100 are zero. A block in which one is not finite has a scale that is none, so
/// that all it is multiplied with becomes none.
struct rounded_block {
  std::int8_t quants[block_length];
  float scale;
  float sum;  ///< of the quants
  float scaled_sum;
};

/// The largest magnitude that is not rounded to zero.
inline constexpr float least_of_block = 0x1p-100F;

/// The scale of numbers up to `largest`, and what brings them to 127.
struct block_scale {
  float scale;
  float inverse;
};
[[nodiscard]] constexpr auto scale_of_block(float largest, bool finite) -> block_scale {
  if (not finite) return {std::numeric_limits<float>::quiet_NaN(), 0.0F};
  if (largest < least_of_block) return {0.0F, 0.0F};
  return {largest / 127, 127 / largest};
}

/// What a row of x is rounded to for weights in a format.
template <class Format>
using rounded_for =
    std::conditional_t<std::same_as<Format, bf16_pairs>, rounded_pairs, rounded_block>;

constexpr void round_block(float const* x, rounded_block& to) {
  auto largest = 0.0F;
  auto finite = true;
  for (auto i = std::size_t{0}; i < block_length; ++i) {
    auto const magnitude = lane::abs(x[i]);
    finite = finite && magnitude <= std::numeric_limits<float>::max();
    largest = lane::max(magnitude, largest);
  }
  auto const [scale, inverse] = scale_of_block(largest, finite);
  to.scale = scale;
  auto sum = 0;
  for (auto i = std::size_t{0}; i < block_length; ++i) {
    auto const q = inverse == 0 ? 0 : static_cast<int>(lane::nearest(x[i] * inverse).value);
    to.quants[i] = static_cast<std::int8_t>(q);
    sum += q;
  }
  to.sum = static_cast<float>(sum);
  to.scaled_sum = scale * to.sum;
}

/// The products of a block of weights and one of x, as a whole number.
template <class Block>
[[nodiscard]] constexpr auto whole_product(Block const& w, rounded_block const& x) -> std::int32_t {
  constexpr auto zero = std::is_base_of_v<q4_0, Block> ? 8 : 0;
  auto sum = std::int32_t{0};
  for (auto i = std::size_t{0}; i < block_length; ++i) sum += (quant_of(w, i) - zero) * x.quants[i];
  return sum;
}
/// sum and the product of a block of weights and one of x.
template <class Block>
[[nodiscard]] constexpr auto add_block(float sum, Block const& w, rounded_block const& x) -> float {
  auto const product = x.scale * static_cast<float>(whole_product(w, x));
  sum = lane::fma(half_value(w.d), product, sum);
  if constexpr (std::is_base_of_v<q4_1, Block>) sum = lane::fma(half_value(w.m), x.scaled_sum, sum);
  return sum;
}

/// Rows of x, whose numbers follow one another, and outputs of y.
struct block_product {
  std::size_t rows;
  std::size_t in;
  std::size_t out;
  float const* x;
  float const* bias;  ///< or null
  float* y;
  std::size_t y_row;  ///< the distance of two rows of y

  /// Outputs of some rows, from `first` on, start.
  constexpr void begin(std::size_t row, std::size_t count, std::size_t first) const {
    for (auto r = row; r < row + count; ++r)
      for (auto o = first; o < out; ++o) y[r * y_row + o] = bias == nullptr ? 0 : bias[o];
  }
  /// A row and the outputs from `first` on, which go on with `blocks` that were rounded, so many
  /// places apart.
  template <class Stored>
  constexpr void add(weight_matrix<float, Stored> const& w, std::size_t row, std::size_t first,
                     std::size_t block, std::size_t blocks, auto const* rounded,
                     std::size_t places = 1) const {
    for (auto o = first; o < out; ++o) {
      auto& sum = y[row * y_row + o];
      for (auto b = std::size_t{0}; b < blocks; ++b)
        sum = add_block(sum, w.blocks_of_row(o)[block + b], rounded[b * places]);
    }
  }
  /// The definition; a few kilobytes of stack.
  template <class Stored> constexpr void run(weight_matrix<float, Stored> const& w) const {
    constexpr auto most = std::size_t{64};
    constexpr auto length = numbers_of_stored<Stored>;
    rounded_for<block_format_of<Stored>> rounded[most] = {};
    begin(0, rows, 0);
    for (auto r = std::size_t{0}; r < rows; ++r)
      for (auto b = std::size_t{0}; b < in / length; b += most) {
        auto const left = in / length - b;
        auto const count = left < most ? left : +most;
        for (auto i = std::size_t{0}; i < count; ++i)
          round_block(x + r * in + (b + i) * length, rounded[i]);
        add(w, r, 0, b, count, rounded);
      }
  }
};

}  // namespace tessera::detail::inline TESSERA_TARGET
