// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/tensor/assign.hpp>

namespace tessera {

/// All axes after the first as one: torch.nn.Flatten, for channels last.
///
/// Shapes  x (batch, ...) -> y (batch, product of the others)
/// Cost    a copy
struct flatten : without_parameters {
  static constexpr auto about = facts{};
  template <class S> using expected_shape = S;
  template <class S> using output_shape = with_merged<S, 1, S::rank>;
  template <class S> [[nodiscard]] static constexpr auto output_extents(actual_extents<S> actual) {
    return merged<1, S::rank>(actual);
  }

  static constexpr void forward(auto const&, auto x, auto y, auto) { assign(y, flat(x)); }
  static constexpr void backward(auto const&, auto, auto, auto dy, auto dx, auto&, auto) {
    if (dx.has_memory()) assign(flat(dx.view), dy);
  }

 private:
  [[nodiscard]] static constexpr auto flat(auto x) {
    using S = shape_of<decltype(x)>;
    using V = view<typename decltype(x)::scalar_type, output_shape<S>, backend_of<decltype(x)>>;
    return V{x.data(), merged<1, S::rank>(x.actual)};
  }
};

}  // namespace tessera
