// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/embedding.hpp>

namespace tessera {

/// Rows are copied: nothing is computed.
template <>
struct kernel_for<detail::embedding_fn, simd> : kernel_for<detail::embedding_fn, reference> {};

}  // namespace tessera
