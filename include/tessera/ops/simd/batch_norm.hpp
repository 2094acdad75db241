// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/reference/batch_norm.hpp>
#include <tessera/ops/simd/in_vectors.hpp>

namespace tessera {

template <>
struct kernel_for<detail::batch_norm_fn, simd> : detail::batch_norm_passes<detail::in_vectors> {
  using takes_activation = kernel_for;
};

}  // namespace tessera
