// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/contract.hpp>
#include <tessera/core/scalar.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

/// Numbers in blocks of 32 that share a scale, as GGUF files have them.
///
/// A row of n numbers is n / 32 blocks. Scales and minima are IEEE binary16, as bits. Of numbers in
/// 4 bits, byte i has number i in its low half and number i + 16 in its high one.
///
/// Accuracy  what `decode` gives is exact, but for one rounding where a minimum is added
/// Errors    in blocks with a scale, a number that is not finite, or too large for a scale, is not
/// encoded: it breaks the
///           contract
/// Source    ggml's reference (dequantize_row_*, quantize_row_*_ref); reference values by the gguf
///           package: tests/reference/block_format.py
namespace tessera {

/// The numbers of a block.
inline constexpr std::size_t block_length = 32;

/// (q - 8)·d, where q < 16.
struct q4_0 {
  std::uint16_t d;
  std::uint8_t quants[block_length / 2];
};
/// q·d + m, where q < 16.
struct q4_1 {
  std::uint16_t d;
  std::uint16_t m;
  std::uint8_t quants[block_length / 2];
};
/// q·d, where q is of 8 bits, with a sign.
struct q8_0 {
  std::uint16_t d;
  std::int8_t quants[block_length];
};
/// Eight pairs of bf16: a part of a row without a scale, which as_stored<bf16> is multiplied by.
struct bf16_pairs {
  bf16 numbers[16];
};
static_assert(sizeof(q4_0) == 18 && sizeof(q4_1) == 20 && sizeof(q8_0) == 34 &&
                  sizeof(bf16_pairs) == 32,
              "blocks follow one another in a file");

/// The numbers of one block of a format.
template <class Format> inline constexpr std::size_t numbers_of_block = block_length;
template <> inline constexpr std::size_t numbers_of_block<bf16_pairs> = 16;

namespace detail {

template <class Stored> struct block_format {
  using type = void;
};
template <> struct block_format<q4_0> {
  using type = q4_0;
};
template <> struct block_format<q4_1> {
  using type = q4_1;
};
template <> struct block_format<q8_0> {
  using type = q8_0;
};

}  // namespace detail

/// Blocks that are multiplied as they are stored, in whole numbers: x is rounded to blocks in 8
/// bits for it (ops/reference/block_product.hpp). Without it, the numbers of blocks are widened,
/// and multiplied as those. As for blocks, so for bf16: x is rounded to bf16 for it, by parts of a
/// row of 16 numbers, and processors have an instruction for pairs of these
/// (ops/reference/pair_product.hpp). Products other than y = b + x·Wᵀ, as slopes of x, and the
/// backend `cuda` widen all of them.
template <class Block> struct as_stored : Block {};
template <> struct as_stored<bf16> : bf16_pairs {};

namespace detail {
template <class Block> struct block_format<as_stored<Block>> : block_format<Block> {};
template <> struct block_format<as_stored<bf16>> {
  using type = bf16_pairs;
};
}  // namespace detail

/// The format of what is stored; void where it is no block.
template <class Stored> using block_format_of = typename detail::block_format<Stored>::type;
/// True for a type of blocks.
template <class Stored>
inline constexpr bool is_block = not std::is_void_v<block_format_of<Stored>>;
/// True for bf16 that is multiplied by pairs.
template <class Stored>
inline constexpr bool is_pairs = std::same_as<block_format_of<Stored>, bf16_pairs>;
/// True for what is multiplied as it is stored: products of whole numbers, or of pairs.
template <class Stored> inline constexpr bool is_as_stored = false;
template <class Block> inline constexpr bool is_as_stored<as_stored<Block>> = true;

/// The value of 16 bits of a scale or minimum.
[[nodiscard]] TESSERA_INLINE constexpr auto half_value(std::uint16_t bits) -> float {
  auto half = f16(0.0F);
  half.bits = bits;
  return static_cast<float>(half);
}
/// Number i of a block in its stored bits, i < 32.
template <class Block>
[[nodiscard]] TESSERA_INLINE constexpr auto quant_of(Block const& block, std::size_t i) -> int {
  if constexpr (std::is_base_of_v<q8_0, Block>)
    return block.quants[i];
  else
    return block.quants[i % (block_length / 2)] >> (i / (block_length / 2) * 4) & 15;
}
/// Number i of a block, i < 32; of pairs, i < 16.
[[nodiscard]] TESSERA_INLINE constexpr auto decode(bf16_pairs const& block, std::size_t i)
    -> float {
  return static_cast<float>(block.numbers[i]);
}
template <class Block>
  requires(is_block<Block> && not is_pairs<Block>)
[[nodiscard]] TESSERA_INLINE constexpr auto decode(Block const& block, std::size_t i) -> float {
  auto const d = half_value(block.d);
  auto const q = static_cast<float>(quant_of(block, i));
  if constexpr (std::is_base_of_v<q4_1, Block>)
    return q * d + half_value(block.m);  // the product is exact: a fused one is the same
  else if constexpr (std::is_base_of_v<q4_0, Block>)
    return (q - 8) * d;
  else
    return q * d;
}

// What encodes also computes: each instruction set has its own.
namespace detail::inline TESSERA_TARGET {

/// The smallest of a block's numbers, the largest, and the first of those with the largest
/// magnitude.
struct block_range {
  float least;
  float most;
  float farthest;
};
[[nodiscard]] constexpr auto range_of_block(auto const& value) -> block_range {
  auto const first = static_cast<float>(value(0));
  auto result = block_range{first, first, 0.0F};
  auto const magnitude = [](float x) { return x < 0 ? -x : x; };
  for (auto i = std::size_t{0}; i < block_length; ++i) {
    auto const x = static_cast<float>(value(i));
    require(magnitude(x) <= std::numeric_limits<float>::max(),
            "numbers in blocks: one is not finite");
    result.least = x < result.least ? x : result.least;
    result.most = result.most < x ? x : result.most;
    if (magnitude(x) > magnitude(result.farthest)) result.farthest = x;
  }
  return result;
}
[[nodiscard]] constexpr auto half_bits(float x) -> std::uint16_t {
  auto const half = f16(x);
  require((half.bits & 0x7C00U) != 0x7C00U, "numbers in blocks: a scale does not go into 16 bits");
  return half.bits;
}
/// 1 / d, or 0 where there is none: all numbers of the block are then the same, or so small that
/// their scale is zero in 16 bits.
[[nodiscard]] constexpr auto inverse_of_scale(float d) -> float {
  constexpr auto least = 1 / std::numeric_limits<float>::max();
  return d > least || d < -least ? 1 / d : 0.0F;
}
/// The whole number below x, which is not negative, and 15 at most.
[[nodiscard]] constexpr auto in_4_bits(float x) -> unsigned {
  return x < 15 ? static_cast<unsigned>(x) : 15U;
}
/// The nearest whole number, halves away from zero, of |x| < 2^22.
[[nodiscard]] constexpr auto nearest_away(float x) -> int {
  auto const magnitude = x < 0 ? -x : x;
  auto below = static_cast<int>(magnitude);
  if (magnitude - static_cast<float>(below) >= 0.5F) ++below;
  return x < 0 ? -below : below;
}
template <class Block> constexpr void put_4_bits(Block& block, auto const& quant) {
  constexpr auto half = block_length / 2;
  for (auto i = std::size_t{0}; i < half; ++i)
    block.quants[i] = static_cast<std::uint8_t>(quant(i) | quant(i + half) << 4U);
}

}  // namespace detail::inline TESSERA_TARGET

inline namespace TESSERA_TARGET {

/// The block of numbers value(i), i < 32, as ggml's reference rounds them; pairs of bf16, to the
/// nearest.
constexpr void encode(auto const& value, bf16_pairs& block) {
  for (auto i = std::size_t{0}; i < numbers_of_block<bf16_pairs>; ++i)
    block.numbers[i] = bf16(static_cast<float>(value(i)));
}
template <class Block>
  requires(is_block<Block> && not is_pairs<Block>)
constexpr void encode(auto const& value, Block& block) {
  auto const range = detail::range_of_block(value);
  auto const number = [&](std::size_t i) { return static_cast<float>(value(i)); };
  if constexpr (std::is_base_of_v<q8_0, Block>) {
    auto const d = (range.farthest < 0 ? -range.farthest : range.farthest) / 127;
    auto const inverse = detail::inverse_of_scale(d);
    block.d = detail::half_bits(d);
    for (auto i = std::size_t{0}; i < block_length; ++i) {
      auto const q = detail::nearest_away(number(i) * inverse);
      block.quants[i] = static_cast<std::int8_t>(q > 127 ? 127 : q < -127 ? -127 : q);
    }
  } else if constexpr (std::is_base_of_v<q4_1, Block>) {
    auto const d = (range.most - range.least) / 15;
    auto const inverse = detail::inverse_of_scale(d);
    block.d = detail::half_bits(d);
    block.m = detail::half_bits(range.least);
    detail::put_4_bits(block, [&](std::size_t i) {
      return detail::in_4_bits((number(i) - range.least) * inverse + 0.5F);
    });
  } else {
    auto const d = range.farthest / -8;
    auto const inverse = detail::inverse_of_scale(d);
    block.d = detail::half_bits(d);
    detail::put_4_bits(
        block, [&](std::size_t i) { return detail::in_4_bits(number(i) * inverse + 8.5F); });
  }
}

}  // namespace TESSERA_TARGET

}  // namespace tessera
