// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/sharing.hpp>
#include <tessera/ops/reference/rms_norm.hpp>
#include <tessera/ops/simd/layer_norm.hpp>

namespace tessera {

template <> struct kernel_for<detail::rms_norm_fn, simd> {
  using slow = kernel_for<detail::rms_norm_fn, reference>;
  using fast = detail::rms_norm_passes<detail::rows_in_vectors>;

  template <class T>
  static constexpr void forward(detail::layer_norm_geometry const& g, T const* x, T const* weight,
                                T epsilon, T* y, T* scale) {
    if (std::is_constant_evaluated())
      slow::forward(g, x, weight, epsilon, y, scale);
    else
      detail::in_shares_of(g.rows, 1, g.features, [&](detail::share const& rows) {
        auto part = g;
        part.rows = rows.count;
        fast::forward(part, x + rows.first * g.features, weight, epsilon,
                      y + rows.first * g.features, scale + rows.first);
      });
  }
  template <class T>
  static constexpr void backward(detail::layer_norm_geometry const& g, T const* x, T const* weight,
                                 T const* scale, T const* dy, detail::rms_norm_slopes<T> slopes,
                                 T* sums) {
    if (std::is_constant_evaluated())
      slow::backward(g, x, weight, scale, dy, slopes, sums);
    else
      fast::backward(g, x, weight, scale, dy, slopes, sums);
  }
};

}  // namespace tessera
