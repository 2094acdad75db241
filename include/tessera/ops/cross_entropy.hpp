// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/cross_entropy.hpp>

namespace tessera {

/// Few numbers, and one order for their sums.
template <>
struct kernel_for<detail::cross_entropy_fn, simd>
    : kernel_for<detail::cross_entropy_fn, reference> {};

}  // namespace tessera
