// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/conv2d.hpp>

#if TESSERA_SIMD
#include <tessera/ops/simd/conv2d.hpp>
#endif

namespace tessera::detail {

struct conv2d_fn {
  template <class X, std::size_t Weights>
  using packed =
      typename kernel_for<conv2d_fn, backend_of<X>>::template packed<scalar_of<X>, Weights>;
};

}  // namespace tessera::detail
