// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/reference/matmul.hpp>
#include <tessera/ops/simd/multiply.hpp>

#include <type_traits>

namespace tessera {

template <> struct kernel<detail::matmul_fn, simd> {
  template <class T>
  static constexpr void run(std::size_t rows, std::size_t columns, std::size_t depth, T const* a,
                            T const* b, T* y) {
    if (std::is_constant_evaluated())
      return kernel<detail::matmul_fn, reference>::run(rows, columns, depth, a, b, y);
    tile::multiply<T>(
        {rows, columns, depth, a, depth, 1, b, columns, y, columns, tile::start::zero, nullptr});
  }
};

}  // namespace tessera
