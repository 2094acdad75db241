// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/reference/avg_pool2d.hpp>
#include <tessera/ops/simd/in_vectors.hpp>

namespace tessera {

template <>
struct kernel_for<detail::avg_pool2d_fn, simd> : detail::avg_pool2d_passes<detail::in_vectors> {};

}  // namespace tessera
