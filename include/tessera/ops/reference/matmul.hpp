// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/lane.hpp>
#include <tessera/ops/operations.hpp>

namespace tessera {

template <> struct kernel<detail::matmul_fn, reference> {
  template <class T>
  static constexpr void run(std::size_t rows, std::size_t columns, std::size_t depth, T const* a,
                            T const* b, T* y) {
    for (auto r = std::size_t{0}; r < rows; ++r)
      for (auto c = std::size_t{0}; c < columns; ++c) {
        auto sum = T{0};
        for (auto k = std::size_t{0}; k < depth; ++k)
          sum = lane::fma(a[r * depth + k], b[k * columns + c], sum);
        y[r * columns + c] = sum;
      }
  }
  template <class T>
  static constexpr void left(std::size_t rows, std::size_t columns, std::size_t depth, T const* dy,
                             T const* b, T* da) {
    for (auto r = std::size_t{0}; r < rows; ++r)
      for (auto k = std::size_t{0}; k < depth; ++k) {
        auto sum = da[r * depth + k];
        for (auto c = std::size_t{0}; c < columns; ++c)
          sum = lane::fma(dy[r * columns + c], b[k * columns + c], sum);
        da[r * depth + k] = sum;
      }
  }
  template <class T>
  static constexpr void right(std::size_t rows, std::size_t columns, std::size_t depth, T const* a,
                              T const* dy, T* db) {
    for (auto r = std::size_t{0}; r < rows; ++r)
      for (auto k = std::size_t{0}; k < depth; ++k)
        for (auto c = std::size_t{0}; c < columns; ++c)
          db[k * columns + c] =
              lane::fma(a[r * depth + k], dy[r * columns + c], db[k * columns + c]);
  }
};

}  // namespace tessera
