// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/parallel.hpp>
#include <tessera/tensor/assign.hpp>

namespace tessera {

/// y = x: the other branch of a skip.
///
/// Shapes  any, unchanged
struct identity : without_parameters, any_shape {
  static constexpr auto about = facts{.row_wise = true, .in_place = true, .adds_dx = true};

  static constexpr void forward(auto const&, auto x, auto y, auto) {
    if (x.data() != y.data()) assign(y, x);
  }
  static constexpr void backward(auto const&, auto, auto, auto dy, auto dx, auto&, auto) {
    if (dx.adds || dx.data() != dy.data()) dx.put(dy);
  }
};

/// Layer(x) and, in the channels behind it, x: what a U-Net carries past its lower levels.
///
/// Shapes  x (..., In) -> y (..., Out of Layer + In); Layer changes no other axis
template <class Layer> using skip_connection = parallel<Layer, identity>;

}  // namespace tessera
