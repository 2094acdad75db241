// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/pairs.hpp>
#include <tessera/backend/simd/word_rows.hpp>
#include <tessera/core/nothing.hpp>
#include <tessera/tensor/weights.hpp>

#include <concepts>
#include <cstddef>
#include <type_traits>

/// Rows of weights, turned while they are read: lane r has row r, as many rows as a vector of float
/// has lanes.
namespace tessera::detail::inline TESSERA_TARGET {

/// As many rows of x as take weights that are turned once: that is a fifth of the products with 32
/// rows.
inline constexpr auto most_rows_of_turned = std::size_t{lane::pack<float>::width > 4 ? 128 : 32};
/// Of what a product keeps meanwhile; the rest is a frame's. A browser's stack has 64 KiB for all.
inline constexpr auto stack_of_turned = std::size_t{lane::pack<float>::width > 4 ? 60 : 14} * 1024;
/// Of weights that are read again and again. Where a second level is smaller, the third gives them
/// in time, and x need not be rounded as often.
inline constexpr auto part_bytes_of_turned = std::size_t{2048} * 1024;

/// What is read between a question to memory and its answer.
inline constexpr auto bytes_until_answered = std::size_t{8192};

/// Asks for the memory after `from`, of rows that lie there one after another, in its order: rows
/// side by side are too many short streams for a processor to foresee. Vectors is how many of
/// them are turned before what they are turned for takes its time: the next ones come meanwhile.
///
/// The first block of the last row is asked for when nearly all of the vector before has been read:
/// what memory gives between a question and its answer lies between them, too.
template <std::size_t Bytes, std::size_t Vectors = 1>
TESSERA_INLINE inline void fetch_ahead(void const* from, std::size_t bytes_of_row) {
  auto const* const ahead = static_cast<std::byte const*>(from) +
                            Vectors * lane::word_lanes * bytes_of_row + bytes_until_answered;
#pragma GCC unroll 16
  for (auto line = std::size_t{0}; line < Bytes; line += 64) lane::fetch(ahead + line);
}

/// Numbers of 16 bits, eight of a row.
template <class Stored> struct turned_numbers {
  using V = lane::pack<float>;
  static constexpr auto length = std::size_t{8};
  lane::four_words_of_rows pairs;

  TESSERA_INLINE turned_numbers(Stored const* first, std::size_t row) {
#pragma GCC unroll 4
    for (auto k = std::size_t{0}; k < 4; ++k)
      pairs.read(reinterpret_cast<std::byte const*>(first), row * sizeof(Stored), k);
#pragma GCC unroll 3
    for (auto k = std::size_t{0}; k < 3; ++k) pairs.turn(k);
  }
  /// Number k of every row.
  [[nodiscard]] TESSERA_INLINE auto operator[](std::size_t k) const -> V {
    auto const pair = pairs.part[k / 2];
    if constexpr (std::same_as<Stored, bf16>)
      return k % 2 == 0 ? lane::even_of_pairs(pair) : lane::odd_of_pairs(pair);
    else
      return lane::low_halves(k % 2 == 0 ? pair : pair >> 16);
  }
  /// Numbers 2·k and 2·k + 1 of every row.
  [[nodiscard]] TESSERA_INLINE auto pair(std::size_t k) const -> lane::pair_of_halves {
    if constexpr (std::same_as<Stored, f16>)
      return lane::both_halves(pairs.part[k]);
    else
      return {(*this)[2 * k], (*this)[2 * k + 1]};
  }
};

/// Blocks, one of a row.
template <class Stored>
  requires is_block<Stored>
struct turned_numbers<Stored> {
  using format = block_format_of<Stored>;
  using V = lane::pack<float>;
  static constexpr auto length = block_length;
  static constexpr auto is_8_bits = std::same_as<format, q8_0>;
  static constexpr auto has_32_bytes = is_8_bits;
  static constexpr auto has_scale = true;
  static constexpr auto has_minimum = std::same_as<format, q4_1>;
  static constexpr auto place_of_words = offsetof(format, quants);
  using sums = std::conditional_t<is_8_bits, lane::sums_of_8_bits, lane::sums_of_4_bits>;
  /// What the quants are larger by than the numbers that they stand for.
  static constexpr int offset = sums::raised + (std::same_as<format, q4_0> ? 8 : 0);

  lane::words quants[8];  ///< word k: numbers 4k .. 4k + 3
  V d;
  [[no_unique_address]] std::conditional_t<has_minimum, V, nothing> m;

  turned_numbers() = default;
  TESSERA_INLINE turned_numbers(format const* first, std::size_t row);
  /// Number k of every row.
  [[nodiscard]] TESSERA_INLINE auto operator[](std::size_t k) const -> V {
    // With a sign, the bytes are raised by 128, if they are not already.
    constexpr auto raise = is_8_bits && sums::raised == 0 ? 0x80808080U : 0U;
    constexpr auto zero = is_8_bits ? 128.0F : std::same_as<format, q4_0> ? 8.0F : 0.0F;
    auto const bytes = (quants[k / 4] ^ lane::words(raise)) >> static_cast<int>(k % 4 * 8);
    auto const q = lane::to_float(bytes & lane::words(0xFFU));
    if constexpr (has_minimum)
      return fma(q, d, m);  // as decode: the product is exact
    else
      return (q - V(zero)) * d;
  }
};

/// Pairs of bf16, eight of a row.
template <std::same_as<bf16_pairs> Pairs> struct turned_numbers<Pairs> {
  using format = Pairs;
  static constexpr auto has_32_bytes = true;
  static constexpr auto has_scale = false;
  static constexpr auto place_of_words = std::size_t{0};
  using sums = lane::sum_of_pairs;

  lane::words quants[8];  ///< word k: numbers 2k and 2k + 1

  turned_numbers() = default;
  TESSERA_INLINE turned_numbers(format const* first, std::size_t row);
};

/// Turns a block of each row, in steps that other work can come between: what waits for memory and
/// what computes then go on side by side.
template <class Stored> struct turning_numbers {
  using turned = turned_numbers<Stored>;
  using format = typename turned::format;
  static constexpr auto steps = std::size_t{8};

  std::byte const* first;
  std::size_t distance;  ///< of two rows, in bytes
  turned result;
  [[no_unique_address]] std::conditional_t<turned::has_scale, lane::first_word_of_rows, nothing>
      scales;
  lane::four_words_of_rows low;
  [[no_unique_address]] std::conditional_t<turned::has_32_bytes, lane::four_words_of_rows, nothing>
      high;

  turning_numbers() = default;
  TESSERA_INLINE turning_numbers(format const* from, std::size_t row)
      : first(reinterpret_cast<std::byte const*>(from)),
        distance(row / numbers_of_block<format> * sizeof(format)) {}
  /// Step k of 0 .. steps - 1; after the last `result` is the block.
  TESSERA_INLINE void step(std::size_t k) {
    auto const* const words = first + turned::place_of_words;
    if (k < 4) {
      low.read(words, distance, k);
      if constexpr (turned::has_32_bytes) high.read(words + 16, distance, k);
      if constexpr (turned::has_scale) scales.read(first, distance, k);
    } else if (k < 7) {
      low.turn(k - 4);
      if constexpr (turned::has_32_bytes) high.turn(k - 4);
    } else {
      finish(result);
    }
  }
  /// The last step, whose block goes to memory at once.
  TESSERA_INLINE void finish(turned& to) {
    if constexpr (turned::has_scale) {
      auto const words = scales.turned();
      to.d = lane::low_halves(words);
      if constexpr (turned::has_minimum) to.m = lane::low_halves(words >> 16);
    }
    auto const half = lane::words(0x0F0F0F0FU);
#pragma GCC unroll 4
    for (auto k = std::size_t{0}; k < 4; ++k) {
      if constexpr (not turned::has_scale) {
        to.quants[k] = low.part[k];
        to.quants[k + 4] = high.part[k];
      } else if constexpr (turned::is_8_bits) {
        to.quants[k] = turned::sums::prepared(low.part[k]);
        to.quants[k + 4] = turned::sums::prepared(high.part[k]);
      } else {
        to.quants[k] = low.part[k] & half;
        to.quants[k + 4] = (low.part[k] >> 4) & half;
      }
    }
  }
};

/// turned_numbers<Stored>(from, row), where it is to lie: with AVX-512 a copy less. With AVX2 and a
/// few rows, which wait for it, it takes longer than a copy (`benchmarks/quantized`, 5 %).
template <class Stored>
TESSERA_INLINE inline void turn_to(turned_numbers<Stored>& to, auto const* from, std::size_t row) {
  auto turning = turning_numbers<Stored>(from, row);
#pragma GCC unroll 8
  for (auto k = std::size_t{0}; k + 1 < turning.steps; ++k) turning.step(k);
  turning.finish(to);
}
template <class Stored>
[[nodiscard]] TESSERA_INLINE inline auto turned_at_once(auto const* from, std::size_t row)
    -> turned_numbers<Stored> {
  auto turning = turning_numbers<Stored>(from, row);
#pragma GCC unroll 8
  for (auto k = std::size_t{0}; k < turning.steps; ++k) turning.step(k);
  return turning.result;
}
template <class Stored>
  requires is_block<Stored>
TESSERA_INLINE inline turned_numbers<Stored>::turned_numbers(format const* from, std::size_t row)
    : turned_numbers(turned_at_once<Stored>(from, row)) {}
template <std::same_as<bf16_pairs> Pairs>
TESSERA_INLINE inline turned_numbers<Pairs>::turned_numbers(format const* from, std::size_t row)
    : turned_numbers(turned_at_once<Pairs>(from, row)) {}

/// True for weights that are turned while they are read, and widened.
template <class T, class Stored>
inline constexpr bool is_turned =
    std::same_as<T, float> &&
    ((is_block<Stored> && not is_pairs<Stored>) || is_storage_scalar<Stored>);

}  // namespace tessera::detail::inline TESSERA_TARGET
