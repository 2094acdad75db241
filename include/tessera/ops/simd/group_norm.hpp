// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/reference/group_norm.hpp>
#include <tessera/ops/simd/in_vectors.hpp>

namespace tessera {

template <>
struct kernel_for<detail::group_norm_fn, simd> : detail::group_norm_passes<detail::in_vectors> {
  using takes_activation = kernel_for;
};

}  // namespace tessera
