// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/pack.hpp>

#include <cstddef>

namespace tessera::detail::inline TESSERA_TARGET {

/// As many rows as a vector of T has lanes, which are read side by side, and then those behind
/// them: asks for what comes next of each, too many streams for every processor to foresee.
template <class T> class rows_ahead {
 public:
  static constexpr auto rows = lane::pack<T>::width;
  /// Enough for memory to answer in time.
  static constexpr auto distance = std::size_t{8} * 64;

  explicit rows_ahead(std::size_t bytes_of_row) : row_(bytes_of_row) {}

  /// True where a line of each of the rows, at the same place of it, finds room in a first level of
  /// 64 sets: at most four of them share one.
  [[nodiscard]] auto fits_first_level() const -> bool {
    constexpr auto sets = std::size_t{64};
    auto const lines = row_ / 64 | sets;
    auto const repeats = lines & (~lines + 1);  // the largest power of two that divides it
    return rows * repeats <= 4 * sets;
  }

  /// Asks for a line of each row, `distance` behind byte `at` of it; behind the row's end that of
  /// the row which follows the others.
  template <bool Near> TESSERA_INLINE void fetch(void const* first_row, std::size_t at) const {
    auto const next = at + distance;
    auto const* const ahead =
        static_cast<std::byte const*>(first_row) + next + (next < row_ ? 0 : (rows - 1) * row_);
#pragma GCC unroll 16
    for (auto r = std::size_t{0}; r < rows; ++r)
      __builtin_prefetch(ahead + r * row_, 0, Near ? 3 : 2);
  }

 private:
  std::size_t row_;
};

}  // namespace tessera::detail::inline TESSERA_TARGET
