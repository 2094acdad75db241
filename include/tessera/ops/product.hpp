// SPDX-License-Identifier: MIT
#pragma once

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

}  // namespace tessera::detail
