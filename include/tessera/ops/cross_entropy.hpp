// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/cross_entropy.hpp>

#if TESSERA_SIMD
#include <tessera/ops/simd/cross_entropy.hpp>
#else
namespace tessera {

template <>
struct kernel_for<detail::cross_entropy_fn, simd>
    : kernel_for<detail::cross_entropy_fn, reference> {};

}  // namespace tessera
#endif
