// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/tensor/assign.hpp>

namespace tessera {

namespace detail {

/// dy times the slope of F, from what its backward pass reads.
template <class F, bool FromOutput> struct slope_of {
  template <class V> TESSERA_INLINE static constexpr auto value(V dy, V read) {
    if constexpr (FromOutput)
      return op::times_slope<F, 0>(dy, read, read);
    else
      return op::times_slope<F, 0>(dy, F::value(read), read);
  }
};

}  // namespace detail

/// y = F(x), element by element.
///
/// Shapes  any, unchanged
/// Cost    one pass; where the slope follows from y alone, x may be overwritten
template <class F, bool FromOutput> struct activation : without_parameters, any_shape {
  /// Itself, for a layer before it that applies it where it writes.
  using applied = activation;
  static constexpr auto about = facts{.backward_reads = FromOutput ? reads::output : reads::input,
                                      .row_wise = true,
                                      .in_place = FromOutput,
                                      .adds_dx = true};

  /// F of a number or a vector, and the slope of its x.
  template <class V> [[nodiscard]] TESSERA_INLINE static constexpr auto apply(V x) -> V {
    return F::value(x);
  }
  template <class V>
  [[nodiscard]] TESSERA_INLINE static constexpr auto slope_through(V dy, V x) -> V {
    if constexpr (FromOutput)
      return detail::slope_of<F, true>::value(dy, F::value(x));
    else
      return detail::slope_of<F, false>::value(dy, x);
  }

  static constexpr void forward(auto const&, auto x, auto y, auto) {
    assign(y, detail::unary<F>(x));
  }
  static constexpr void backward(auto const&, auto x, auto y, auto dy, auto dx, auto&, auto) {
    if constexpr (FromOutput)
      dx.put(detail::binary<detail::slope_of<F, true>>(dy, y));
    else
      dx.put(detail::binary<detail::slope_of<F, false>>(dy, x));
  }
};

using tanh_layer = activation<op::tanh, true>;
using sigmoid_layer = activation<op::sigmoid, true>;
using relu_layer = activation<op::relu, true>;
using silu_layer = activation<op::silu, false>;
using gelu_layer = activation<op::gelu, false>;
using gelu_tanh_layer = activation<op::gelu_tanh, false>;
using softplus_layer = activation<op::softplus, false>;

}  // namespace tessera
