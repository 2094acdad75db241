// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/reference/rotary.hpp>
#include <tessera/ops/simd/in_vectors.hpp>

namespace tessera {

template <> struct kernel_for<detail::rotary_fn, simd> : detail::rotary_pass<detail::in_vectors> {};

}  // namespace tessera
