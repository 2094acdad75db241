// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/parallel.hpp>
#include <tessera/tensor/assign.hpp>

namespace tessera {

/// y = x: the other branch of a skip.
///
/// Shapes  any, unchanged
struct identity {
  template <class Storage> struct parameters {};
  static constexpr auto backward_reads = reads::neither;
  static constexpr bool row_wise = true;
  static constexpr bool in_place = true;

  static constexpr void forward(auto const&, auto x, auto y, auto) {
    if (x.data() != y.data()) assign(y, x);
  }
  static constexpr void backward(auto const&, auto, auto, auto dy, auto dx, auto&, auto) {
    if (dx.has_memory() && dx.data() != dy.data()) assign(dx, dy);
  }
};

/// Layer(x) and, in the channels behind it, x: what a U-Net carries past its lower levels.
///
/// Shapes  x (..., In) -> y (..., Out of Layer + In); Layer changes no other axis
template <class Layer> using skip = parallel<Layer, identity>;

}  // namespace tessera
