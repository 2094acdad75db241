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
};

}  // namespace tessera
