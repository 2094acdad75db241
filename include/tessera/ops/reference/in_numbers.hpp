// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/node/base.hpp>

#include <cstddef>

namespace tessera::detail::inline TESSERA_TARGET {

/// So many rows are added one after another, and then to those before: a sum of many more in one go
/// would lose the digits of the last ones.
inline constexpr std::size_t rows_added_at_once = 4096;

/// Goes through n numbers one after the other: f(lanes, place). Kernels whose passes are the same
/// for numbers and vectors are written once, for this or for in_vectors.
struct in_numbers {
  template <class T> static constexpr void each(std::size_t n, auto const& f) {
    for (auto i = std::size_t{0}; i < n; ++i) f(one_lane{}, i);
  }
  /// The rows [first, end) of so many columns, from above: begin(lanes, column) is what a column
  /// keeps, step(lanes, kept, place, column) comes for each row, and last(lanes, column, kept).
  /// What is kept may fold(lanes) itself after each block of rows.
  template <class T, std::size_t>
  static constexpr void down(std::size_t columns, std::size_t first, std::size_t end,
                             auto const& begin, auto const& step, auto const& last) {
    for (auto c = std::size_t{0}; c < columns; ++c) {
      auto kept = begin(one_lane{}, c);
      auto row = first;
      for (auto goes_on = true; goes_on; goes_on = row < end) {
        auto const stop = row + rows_added_at_once < end ? row + rows_added_at_once : end;
        for (auto at = row * columns + c; at < stop * columns; at += columns)
          step(one_lane{}, kept, at, c);
        if constexpr (requires { kept.fold(one_lane{}); }) kept.fold(one_lane{});
        row = stop;
      }
      last(one_lane{}, c, kept);
    }
  }
};

}  // namespace tessera::detail::inline TESSERA_TARGET
