// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/node/base.hpp>

namespace tessera::detail::inline TESSERA_TARGET {

/// Goes through n numbers one after the other: f(lanes, place). Kernels whose passes are the same
/// for numbers and vectors are written once, for this or for in_vectors.
struct in_numbers {
  template <class T> static constexpr void each(std::size_t n, auto const& f) {
    for (auto i = std::size_t{0}; i < n; ++i) f(one_lane{}, i);
  }
  /// The rows [first, end) of so many columns, from above: begin(lanes, column) is what a column
  /// keeps, step(lanes, kept, place, column) comes for each row, and last(lanes, column, kept).
  template <class T, std::size_t>
  static constexpr void down(std::size_t columns, std::size_t first, std::size_t end,
                             auto const& begin, auto const& step, auto const& last) {
    for (auto c = std::size_t{0}; c < columns; ++c) {
      auto kept = begin(one_lane{}, c);
      for (auto at = first * columns + c; at < end * columns; at += columns)
        step(one_lane{}, kept, at, c);
      last(one_lane{}, c, kept);
    }
  }
};

}  // namespace tessera::detail::inline TESSERA_TARGET
