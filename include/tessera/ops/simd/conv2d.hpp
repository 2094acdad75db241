// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/conv2d/by_products.hpp>

namespace tessera {

template <> struct kernel_for<detail::conv2d_fn, simd> : conv2d_by_products<simd> {};

}  // namespace tessera
