// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/pack.hpp>

#include <cstddef>

namespace tessera::detail::inline TESSERA_TARGET {

/// Groups of as many rows as a cache line has numbers, one group after another, whose rows are read
/// side by side, a line of each at a time: too many streams for a processor to foresee, and rows a
/// power of two apart meet in the same few places of a first level. So a pair of rows is read a
/// line ahead of the pair before it, into a ring of lines, and memory is asked for what comes next.
template <class T> class staggered_rows {
 public:
  static constexpr auto line = std::size_t{64} / sizeof(T);  ///< the numbers of a cache line
  static constexpr auto rows = line;                         ///< of a group

  /// Groups of rows without a gap between them, one at least, of a length that it takes.
  staggered_rows(T const* first_row, std::size_t length, std::size_t groups)
      : group_(first_row), length_(length), groups_(groups) {
    for (auto at = std::size_t{0}; at + 1 < pairs; ++at)
      for (auto p = at + 1; p < pairs; ++p) copy_pair(group_, length_, p, at, at);
  }
  [[nodiscard]] static auto takes(std::size_t length) -> bool { return length >= 2 * pairs * line; }

  /// f(k, lines) for every whole line of the group, k its first number in a row and lines[r * line]
  /// that of row r; then the next group comes.
  TESSERA_INLINE void read_group(auto const& f) {
    auto const group = group_;
    auto const length = length_;
    auto const lines = length / line;
    auto const has_next = groups_ > 1;
    auto at = at_;
    for (auto i = std::size_t{0}; i < lines; ++i, ++at) {
      // The pair that is furthest ahead comes first: the order that memory likes best.
#pragma GCC unroll 8
      for (auto back = std::size_t{1}; back <= pairs; ++back) {
        auto const p = pairs - back;
        if (i + p < lines || has_next) copy_pair(group, length, p, at + p, i + p);
      }
      f(i * line, ring_ + at % pairs * rows * line);
    }
    at_ = at;
    --groups_;
    group_ += rows * length_;
  }

 private:
  static constexpr auto pairs = rows / 2;
  static constexpr auto ahead = std::size_t{16};  ///< lines, enough for memory to answer in time

  /// Line i of a row of the group, or, behind its last, of the row as far down in the next group.
  [[nodiscard]] TESSERA_INLINE static auto place_of(std::size_t i, std::size_t length)
      -> std::size_t {
    auto const lines = length / line;
    return i < lines ? i * line : rows * length + (i - lines) * line;
  }
  TESSERA_INLINE void copy_pair(T const* group, std::size_t length, std::size_t pair,
                                std::size_t number_of_line, std::size_t i) {
    auto const* const first = group + 2 * pair * length;
    auto const* const next = first + place_of(i + ahead, length);
    lane::fetch(next);
    lane::fetch(next + length);
    auto const* const from = first + place_of(i, length);
    auto* const to = ring_ + (number_of_line % pairs * rows + 2 * pair) * line;
#pragma GCC unroll 4
    for (auto j = std::size_t{0}; j < line; j += lane::pack<T>::width) {
      lane::store(to + j, lane::load(from + j));
      lane::store(to + line + j, lane::load(from + length + j));
    }
  }

  T const* group_;
  std::size_t length_;
  std::size_t groups_;
  std::size_t at_ = 0;  ///< the lines of a row read so far, of all groups
  alignas(64) T ring_[pairs * rows * line];
};

}  // namespace tessera::detail::inline TESSERA_TARGET
