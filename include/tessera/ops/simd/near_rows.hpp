// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/first_level.hpp>
#include <tessera/backend/simd/pack.hpp>

#include <cstddef>

namespace tessera::detail::inline TESSERA_TARGET {

/// A group of rows as of `staggered_rows`, for a first level that waits for many lines: they are
/// read side by side. Memory is asked for a line of each row at a time, of each two lines further
/// down than of the row before, so that what is asked for together lies in different places of
/// memory and of the first level. Behind the last line come those of the group that follows.
template <class T> struct near_rows {
  static constexpr auto line = std::size_t{64} / sizeof(T);  ///< the numbers of a cache line
  static constexpr auto rows = line;

  T const* first;
  std::size_t length;  ///< of a row: a few lines at least

  /// f(k, lines) for every whole line, k its first number in a row and lines[r * line] that of
  /// row r.
  TESSERA_INLINE void read(auto const& f) const {
    constexpr auto width = lane::pack<T>::width;
    for (auto k = std::size_t{0}; k + line <= length; k += line) {
      ask(k);
      alignas(64) T lines[rows * line];
#pragma GCC unroll 16
      for (auto r = std::size_t{0}; r < rows; ++r)
#pragma GCC unroll 4
        for (auto j = std::size_t{0}; j < line; j += width)
          lane::store(lines + r * line + j, lane::load(first + r * length + k + j));
      asm volatile("" : "+m"(lines));  // each is read once: g++ would read it by quarters
      f(k, static_cast<T const*>(lines));
    }
  }

 private:
  static constexpr auto ahead = 8 * line;  ///< in the first row
  static constexpr auto apart = 2 * line;

  /// What computes the places is part of the pace: where they are in a table, and asked for faster,
  /// the same lines come 12 % later.
  TESSERA_INLINE void ask(std::size_t k) const {
    auto const end = length / line * line;
#pragma GCC unroll 16
    for (auto behind = std::size_t{1}; behind <= rows; ++behind) {
      auto const r = rows - behind;
      auto const at = k + ahead + r * apart;
      lane::fetch_near(first + r * length + (at < end ? at : at - end + rows * length));
    }
  }
};

}  // namespace tessera::detail::inline TESSERA_TARGET
