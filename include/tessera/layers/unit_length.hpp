// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/traced.hpp>
#include <tessera/tensor/elementwise.hpp>
#include <tessera/tensor/reduction.hpp>

namespace tessera {

/// y = x / max(sqrt(sum of x²), 1e-12), as sqrt(max(sum of x², 1e-24)), over the last axis: vectors
/// whose products are cosines.
///
/// Shapes  any, unchanged
/// Cost    two passes over a row; its backward pass is derived
/// Source  torch.nn.functional.normalize; reference values: tests/reference/bert.py
struct unit_length {
  template <class Storage> struct parameters {};
  static constexpr auto forward(auto const&, auto x) {
    // The root of the bound, not the bound of the root, which has no slope at zero.
    return x / sqrt(max(sum(square(x), axis<-1>, keepdims), 1e-24));
  }
};

}  // namespace tessera
