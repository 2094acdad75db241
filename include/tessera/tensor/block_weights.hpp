// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/block_format.hpp>

#include <concepts>
#include <cstddef>

/// Weights in blocks of 32, as GGUF files have them: a row of In numbers is In / 32 blocks. Rows of
/// bf16 that are multiplied by pairs are In / 16 blocks.
namespace tessera {

template <class T, class Stored = T> struct weight_matrix;

/// The numbers of one Stored.
template <class Stored>
inline constexpr std::size_t numbers_of_stored =
    is_block<Stored> ? numbers_of_block<block_format_of<Stored>> : 1;

/// A matrix of numbers T in blocks, which lie next to each other in a row, or in a column; by the
/// distances of rows and columns, in numbers.
template <class T, class Stored>
  requires is_block<Stored>
struct weight_matrix<T, Stored> {
  static constexpr auto numbers = numbers_of_stored<Stored>;

  Stored const* data;
  std::size_t row;
  std::size_t column;
  std::size_t first = 0;  ///< the place of number (0, 0)

  [[nodiscard]] TESSERA_DEVICE constexpr auto at(std::size_t r, std::size_t c) const -> T {
    auto const place = first + r * row + c * column;
    return widened<T>(decode(data[place / numbers], place % numbers));
  }
  /// The blocks of a row from its first number on, where that begins one.
  [[nodiscard]] constexpr auto blocks_of_row(std::size_t r) const -> Stored const* {
    return data + (first + r * row) / numbers;
  }
  [[nodiscard]] constexpr auto transposed() const -> weight_matrix {
    return {data, column, row, first};
  }
  [[nodiscard]] constexpr auto part(std::size_t r, std::size_t c, std::size_t step = 1) const
      -> weight_matrix {
    return {data, row * step, column, first + r * row + c * column};
  }
};

}  // namespace tessera

namespace tessera::detail::inline TESSERA_TARGET {

/// Output o of weights to blocks that follow one another: as they are, or as ggml rounds them.
template <class From, class Stored>
constexpr void store_blocks(From const& from, std::size_t o, std::size_t in, Stored* to) {
  constexpr auto numbers = numbers_of_stored<Stored>;
  for (auto k = std::size_t{0}; k < in; k += numbers, ++to) {
    if constexpr (requires { from.blocks_of_row(o); }) {
      using Source = std::remove_cvref_t<decltype(*from.data)>;
      if constexpr (std::same_as<block_format_of<Source>, block_format_of<Stored>>)
        if (from.column == 1) {
          auto const& block = from.blocks_of_row(o)[k / numbers];
          static_cast<block_format_of<Stored>&>(*to) = block;
          continue;
        }
    }
    encode([&](std::size_t i) { return from.at(o, k + i); }, *to);
  }
}

}  // namespace tessera::detail::inline TESSERA_TARGET
