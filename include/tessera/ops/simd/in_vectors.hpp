// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/lanes.hpp>
#include <tessera/ops/reference/in_numbers.hpp>

#include <cstddef>

namespace tessera::detail::inline TESSERA_TARGET {

/// Goes through n numbers a vector at a time: f(lanes, place).
struct in_vectors {
  template <class T> TESSERA_INLINE static void each(std::size_t n, auto const& f) {
    for_each_vector<T>(n, f);
  }
  /// The rows [first, end) of so many columns, from above: begin(lanes, column) is what a vector of
  /// columns keeps, step(lanes, kept, place, column) comes for each row, and last(lanes, column,
  /// kept). `Together` vectors go side by side, whose steps do not wait for each other and read
  /// what lies together. What is kept may fold itself after each block of rows.
  template <class T, std::size_t Together>
  TESSERA_INLINE static void down(std::size_t columns, std::size_t first, std::size_t end,
                                  auto const& begin, auto const& step, auto const& last) {
    constexpr auto width = Together * whole_lanes<T>::width;
    auto c = std::size_t{0};
    for (; c + width <= columns; c += width)
      some_down<Together>(whole_lanes<T>{}, columns, c, first, end, begin, step, last);
    for_each_vector<T>(columns - c, [&](auto lanes, std::size_t i) TESSERA_INLINE {
      some_down<1>(lanes, columns, c + i, first, end, begin, step, last);
    });
  }

 private:
  template <std::size_t Count>
  TESSERA_INLINE static void some_down(auto lanes, std::size_t columns, std::size_t column,
                                       std::size_t first, std::size_t end, auto const& begin,
                                       auto const& step, auto const& last) {
    constexpr auto width = decltype(lanes)::width;
    decltype(begin(lanes, column)) kept[Count];
#pragma GCC unroll 4
    for (auto v = std::size_t{0}; v < Count; ++v) kept[v] = begin(lanes, column + v * width);
    auto row = first;
    for (auto goes_on = true; goes_on; goes_on = row < end) {
      auto const stop = row + rows_added_at_once < end ? row + rows_added_at_once : end;
      for (auto at = row * columns + column; at < stop * columns; at += columns) {
#pragma GCC unroll 4
        for (auto v = std::size_t{0}; v < Count; ++v)
          step(lanes, kept[v], at + v * width, column + v * width);
      }
      if constexpr (requires { kept[0].fold(lanes); })
        for (auto& one : kept) one.fold(lanes);
      row = stop;
    }
#pragma GCC unroll 4
    for (auto v = std::size_t{0}; v < Count; ++v) last(lanes, column + v * width, kept[v]);
  }
};

}  // namespace tessera::detail::inline TESSERA_TARGET
