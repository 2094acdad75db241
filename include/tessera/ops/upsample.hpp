// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/upsample.hpp>

namespace tessera {

/// Rows are copied and added: compilers make vectors of these loops.
template <>
struct kernel_for<detail::upsample_fn, simd> : kernel_for<detail::upsample_fn, reference> {};

}  // namespace tessera
