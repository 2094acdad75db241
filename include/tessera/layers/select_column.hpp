// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/tensor/assign.hpp>
#include <tessera/tensor/slicing.hpp>

namespace tessera {

/// One column of a matrix: what a condition of several numbers gives to each of its readers.
///
/// Shapes  x (batch, Width) -> y (batch), where Index < Width
template <std::size_t Index, std::size_t Width> struct select_column : without_parameters {
  static_assert(Index < Width, "select_column: there is no such column");
  template <class S> using expected_shape = with_last<with_rank<S, 2>, Width>;
  template <class S> using output_shape = without_last<S>;
  static constexpr auto about = facts{.row_wise = true};

  static constexpr void forward(auto const&, auto x, auto y, auto) {
    assign(y, slice(x, whole_axis, Index));
  }
  static constexpr void backward(auto const&, auto, auto, auto dy, auto dx, auto&, auto) {
    if (not dx.has_memory()) return;
    dx.put(scalar_of<decltype(dx)>{0});
    assign(slice(dx.view, whole_axis, Index), dy);
  }
};

}  // namespace tessera
