// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/sinusoidal.hpp>

namespace tessera {

/// One row a step of a diffusion: not worth vectors.
template <>
struct kernel_for<detail::sinusoidal_fn, simd> : kernel_for<detail::sinusoidal_fn, reference> {};

}  // namespace tessera
