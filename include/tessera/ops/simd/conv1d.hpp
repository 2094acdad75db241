// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/conv1d/by_products.hpp>

namespace tessera {

template <> struct kernel_for<detail::conv1d_fn, simd> : conv1d_by_products<simd> {};

}  // namespace tessera
