// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/contract.hpp>
#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/product.hpp>

#if TESSERA_SIMD
#include <tessera/ops/simd/product.hpp>
#endif

namespace tessera::detail {

/// C = A·B or C += A·B on a backend: see matrix_product.
template <class Backend, class T, class Stored>
constexpr void multiply(matrix_product<T, Stored> const& p) {
  kernel_for<product_fn, Backend>::run(p);
}

/// C += A·B, whose rows of A and C, or steps of the depth in A and B, lie in runs.
///
/// Errors  std::invalid_argument for a product that does not add, or adds last:
///         tests/ops/product.cpp
template <class Backend, class T, class Stored>
constexpr void multiply_in_runs(matrix_product<T, Stored> p, product_runs const& rows,
                                product_runs const& depth) {
  require(p.adds && not p.adds_last, "product: what lies in runs is added as it comes");
  using kernel = kernel_for<product_fn, Backend>;
  if constexpr (requires { kernel::run_in_runs(p, rows, depth); }) {
    kernel::run_in_runs(p, rows, depth);
  } else {
    auto const all_rows = p.rows;
    auto const all_depth = p.depth;
    if (rows.length != 0) p.rows = rows.length;
    if (depth.length != 0) p.depth = depth.length;
    for (auto row = std::size_t{0}; row * p.rows < all_rows; ++row)
      for (auto k = std::size_t{0}; k * p.depth < all_depth; ++k) {
        auto one = p;
        one.a.data += row * rows.a + (depth.first + k * depth.a);
        one.b.data += k * depth.other;
        one.c += row * rows.other;
        kernel::run(one);
      }
  }
}

}  // namespace tessera::detail
