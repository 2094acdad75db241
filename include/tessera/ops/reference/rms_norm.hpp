// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/reference/layer_norm.hpp>

namespace tessera {

namespace detail {

template <class T> struct squares_of_numbers {
  T const* x;

  [[nodiscard]] TESSERA_INLINE constexpr auto get(auto lanes, std::size_t i) const {
    auto const v = lanes.load(x + i);
    return v * v;
  }
};
/// d·normal along a row, where d = dy·weight.
template <class T> struct rms_norm_product {
  layer_norm_slope<T> d;
  T const* x;
  T scale;

  [[nodiscard]] TESSERA_INLINE constexpr auto normal(auto lanes, std::size_t i) const {
    return lanes.load(x + i) * lanes.splat(scale);
  }
  [[nodiscard]] TESSERA_INLINE constexpr auto get(auto lanes, std::size_t i) const {
    return d.get(lanes, i) * normal(lanes, i);
  }
};

/// The passes of an RMS norm, for rows by numbers or by vectors.
template <class Rows> struct rms_norm_passes {
  template <class T>
  static constexpr void forward(layer_norm_geometry const& g, T const* x, T const* weight,
                                T epsilon, T* y, T* scale) {
    auto const n = g.features;
    for (auto r = std::size_t{0}; r < g.rows; ++r) {
      auto const* const from = x + r * n;
      auto* const to = y + r * n;
      auto const squares = Rows::template total<T>(squares_of_numbers<T>{from}, n);
      auto const factor = T{1} / lane::sqrt(squares / static_cast<T>(n) + epsilon);
      scale[r] = factor;
      Rows::template each<T>(n, [&](auto lanes, std::size_t i) TESSERA_INLINE {
        lanes.store(to + i, lanes.load(from + i) * lanes.splat(factor) * lanes.load(weight + i));
      });
    }
  }
  /// dx = (d - normal·mean of d·normal)·scale, and the slopes of the weight through `sums`.
  template <class T>
  static constexpr void backward(layer_norm_geometry const& g, T const* x, T const* weight,
                                 T const* scale, T const* dy, rms_norm_slopes<T> slopes, T* sums) {
    auto const n = g.features;
    for (auto i = std::size_t{0}; i < n; ++i) sums[i] = -T{0};
    for (auto r = std::size_t{0}; r < g.rows; ++r) {
      auto const product = rms_norm_product<T>{{dy + r * n, weight}, x + r * n, scale[r]};
      auto of_row = slopes;
      auto mean = T{0};
      if (slopes.dx != nullptr) {
        of_row.dx = slopes.dx + r * n;
        mean = Rows::template total<T>(product, n) / static_cast<T>(n);
      }
      row(n, product, mean, of_row, sums);
    }
    for (auto i = std::size_t{0}; slopes.dweight != nullptr && i < n; ++i)
      slopes.dweight[i] = slopes.dweight[i] + sums[i];
  }

 private:
  template <class T>
  static constexpr void row(std::size_t n, rms_norm_product<T> const& of, T mean,
                            rms_norm_slopes<T> const& slopes, T* sums) {
    auto const product = of;
    auto const [dx, adds, dweight] = slopes;
    Rows::template each<T>(n, [&](auto lanes, std::size_t i) TESSERA_INLINE {
      auto const normal = product.normal(lanes, i);
      if (dweight != nullptr)
        lanes.store(sums + i, lanes.load(sums + i) + lanes.load(product.d.dy + i) * normal);
      if (dx != nullptr) {
        auto const slope =
            (product.d.get(lanes, i) - normal * lanes.splat(mean)) * lanes.splat(product.scale);
        lanes.store(dx + i, adds ? lanes.load(dx + i) + slope : slope);
      }
    });
  }
};

}  // namespace detail

template <>
struct kernel_for<detail::rms_norm_fn, reference>
    : detail::rms_norm_passes<detail::rows_in_numbers> {};

}  // namespace tessera
