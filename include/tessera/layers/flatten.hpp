// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/tensor/assign.hpp>
#include <tessera/tensor/slicing.hpp>

namespace tessera {

/// All axes after the first as one: torch.nn.Flatten, for channels last.
///
/// Shapes  x (batch, ...) -> y (batch, product of the others)
/// Cost    a copy
struct flatten : without_parameters {
  static constexpr auto about = facts{};
  template <class S> using expected_shape = S;
  template <class S>
  using output_shape =
      shape<S::extents[0], static_cast<extent>(S::capacity / bound_of(S::extents[0]))>;

  static constexpr void forward(auto const&, auto x, auto y, auto) {
    assign(y, reshape<shape_of<decltype(y)>>(x));
  }
  static constexpr void backward(auto const&, auto, auto, auto dy, auto dx, auto&, auto) {
    if (dx.has_memory()) assign(reshape<shape_of<decltype(dy)>>(dx.view), dy);
  }
};

}  // namespace tessera
