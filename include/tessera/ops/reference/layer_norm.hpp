// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/tensor/accumulate.hpp>

namespace tessera {

template <> struct kernel_for<detail::layer_norm_fn, reference> {
  template <class T>
  static constexpr void forward(detail::layer_norm_geometry const& g, T const* x, T const* weight,
                                T const* bias, T epsilon, T* y, T* mean, T* scale) {
    auto const count = static_cast<T>(g.features);
    for (auto r = std::size_t{0}; r < g.rows; ++r, x += g.features, y += g.features) {
      auto sum = reductions::lanes<reductions::adds, T>{};
      for (auto i = std::size_t{0}; i < g.features; ++i) sum.add(x[i]);
      mean[r] = sum.total() / count;
      auto squares = reductions::lanes<reductions::adds, T>{};
      for (auto i = std::size_t{0}; i < g.features; ++i)
        squares.add((x[i] - mean[r]) * (x[i] - mean[r]));
      scale[r] = T{1} / lane::sqrt(squares.total() / count + epsilon);
      for (auto i = std::size_t{0}; i < g.features; ++i) {
        auto const normal = (x[i] - mean[r]) * scale[r];
        y[i] = weight == nullptr ? normal : normal * weight[i] + bias[i];
      }
    }
  }
};

}  // namespace tessera
