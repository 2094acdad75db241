// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/conv1d.hpp>

#if TESSERA_SIMD
#include <tessera/ops/simd/conv1d.hpp>
#endif

namespace tessera::detail {

struct conv1d_fn {
  template <class X, std::size_t Weights>
  using packed =
      typename kernel_for<conv1d_fn, backend_of<X>>::template packed<scalar_of<X>, Weights>;
};

}  // namespace tessera::detail
