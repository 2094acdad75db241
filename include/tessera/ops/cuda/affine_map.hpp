// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/nothing.hpp>
#include <tessera/ops/affine_map.hpp>
#include <tessera/ops/cuda/product.hpp>

namespace tessera {

template <> struct kernel_for<detail::affine_map_fn, cuda> {
  template <class T, std::size_t Rows, std::size_t In, std::size_t Out> using packed = nothing;
  static void prepare(auto const&, auto&) {}

  static void run(auto x, auto const& weight, auto const* bias, auto y, auto&) {
    using T = scalar_of<decltype(x)>;
    constexpr auto in = last_of<shape_of<decltype(x)>>;
    constexpr auto out = last_of<shape_of<decltype(y)>>;
    device::multiply_weights(detail::rows_of(x), out, in, {x.data(), in, 1},
                             weights_of<T>(weight).transposed(), y.data(), out,
                             bias == nullptr ? device::start::zero : device::start::bias,
                             static_cast<T const*>(bias));
  }
};

}  // namespace tessera
