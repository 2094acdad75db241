// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/tensor/assign.hpp>
#include <tessera/tensor/slicing.hpp>

namespace tessera {

/// The first two axes exchanged: from torch's batch_first=True to sequences whose first axis is
/// time, and back.
///
/// Shapes  x (batch, time, ...) -> y (time, batch, ...)
/// Cost    a copy
/// Errors  an input of one axis: tests/fail/transposed_wrong_rank.cpp
struct transposed_layer : without_parameters {
  static constexpr auto about = facts{.adds_dx = true};
  template <class S> using expected_shape = with_rank_at_least<S, 2>;
  template <class S>
  using output_shape = with_extent<with_extent<S, 0, S::extents[1]>, 1, S::extents[0]>;
  [[nodiscard]] static constexpr auto output_extents(auto actual) { return exchanged(actual); }

  static constexpr void forward(auto const&, auto x, auto y, auto) {
    for (auto i = std::size_t{0}; i < y.template extent_of<0>(); ++i)
      assign(y[i], slice(x, whole_axis, i));
  }
  static constexpr void backward(auto const&, auto, auto, auto dy, auto dx, auto&, auto) {
    if (not dx.has_memory()) return;
    for (auto i = std::size_t{0}; i < dy.template extent_of<0>(); ++i) {
      auto const part = slice(dx.view, whole_axis, i);
      if constexpr (dx.adds)
        assign(part, part + dy[i]);
      else
        assign(part, dy[i]);
    }
  }

 private:
  template <class S> [[nodiscard]] static constexpr auto exchanged(actual_extents<S> actual) {
    auto extents = actual.full();
    auto const first = extents[0];
    extents[0] = extents[1];
    extents[1] = first;
    return actual_extents<output_shape<S>>::from(extents);
  }
};

}  // namespace tessera
