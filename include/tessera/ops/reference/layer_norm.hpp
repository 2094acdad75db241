// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/in_numbers.hpp>
#include <tessera/tensor/accumulate.hpp>

namespace tessera {

namespace detail {

/// d = dy·weight, or d·normal, along a row.
template <class T> struct layer_norm_slope {
  T const* dy;
  T const* weight;  ///< or null

  [[nodiscard]] TESSERA_INLINE constexpr auto get(auto lanes, std::size_t i) const {
    return weight == nullptr ? lanes.load(dy + i) : lanes.load(dy + i) * lanes.load(weight + i);
  }
};
template <class T> struct layer_norm_product {
  layer_norm_slope<T> d;
  T const* x;
  T mean;
  T scale;

  [[nodiscard]] TESSERA_INLINE constexpr auto normal(auto lanes, std::size_t i) const {
    return (lanes.load(x + i) - lanes.splat(mean)) * lanes.splat(scale);
  }
  [[nodiscard]] TESSERA_INLINE constexpr auto get(auto lanes, std::size_t i) const {
    return d.get(lanes, i) * normal(lanes, i);
  }
};

/// The backward pass of a layer norm, for rows by numbers or by vectors: a few rows at a time,
/// which stay in the nearest cache, and whose sums do not wait for each other.
template <class Rows> struct layer_norm_backward {
  template <class T>
  static constexpr void run(layer_norm_geometry const& g, T const* x, T const* weight,
                            T const* mean, T const* scale, T const* dy, layer_norm_slopes<T> slopes,
                            T* sums) {
    auto const n = g.features;
    auto const row_of = [&](std::size_t r) -> layer_norm_product<T> {
      return {{dy + r * n, weight}, x + r * n, mean[r], scale[r]};
    };
    auto const count = static_cast<T>(n);
    for (auto i = std::size_t{0}; i < 2 * n; ++i) sums[i] = -T{0};
    for (auto first = std::size_t{0}; first < g.rows; first += most_rows) {
      auto const rows = g.rows - first < most_rows ? g.rows - first : most_rows;
      T mean_d[most_rows]{};
      T mean_product[most_rows]{};
      for (auto r = std::size_t{0}; r < rows && slopes.dx != nullptr; ++r) {
        mean_d[r] = Rows::template total<T>(row_of(first + r).d, n) / count;
        mean_product[r] = Rows::template total<T>(row_of(first + r), n) / count;
      }
      for (auto r = std::size_t{0}; r < rows; ++r) {
        auto of_row = slopes;
        if (slopes.dx != nullptr) of_row.dx = slopes.dx + (first + r) * n;
        row(n, row_of(first + r), mean_d[r], mean_product[r], of_row, sums);
      }
    }
    if (slopes.dweight == nullptr) return;
    for (auto i = std::size_t{0}; i < n; ++i) {
      slopes.dweight[i] = slopes.dweight[i] + sums[i];
      slopes.dbias[i] = slopes.dbias[i] + sums[n + i];
    }
  }

 private:
  static constexpr std::size_t most_rows = 8;

  /// dx = (d - mean of d - normal·mean of products)·scale, and what the row adds to the sums.
  template <class T>
  static constexpr void row(std::size_t n, layer_norm_product<T> const& of, T mean_d,
                            T mean_product, layer_norm_slopes<T> const& slopes, T* sums) {
    auto const product = of;
    auto const [dx, adds, dweight, dbias] = slopes;
    Rows::template each<T>(n, [&](auto lanes, std::size_t i) TESSERA_INLINE {
      auto const normal = product.normal(lanes, i);
      if (dx != nullptr) {
        auto const centered = product.d.get(lanes, i) - lanes.splat(mean_d);
        auto const slope =
            (centered - normal * lanes.splat(mean_product)) * lanes.splat(product.scale);
        lanes.store(dx + i, adds ? lanes.load(dx + i) + slope : slope);
      }
      if (dweight != nullptr) {
        auto const slope = lanes.load(product.d.dy + i);
        lanes.store(sums + i, lanes.load(sums + i) + slope * normal);
        lanes.store(sums + n + i, lanes.load(sums + n + i) + slope);
      }
    });
  }
};

inline namespace TESSERA_TARGET {

struct rows_in_numbers : in_numbers {
  template <class T> static constexpr auto total(auto const& row, std::size_t n) -> T {
    auto sum = reductions::lanes<reductions::adds, T>{};
    for (auto i = std::size_t{0}; i < n; ++i) sum.add(row.get(one_lane{}, i));
    return sum.total();
  }
};

}  // namespace TESSERA_TARGET

}  // namespace detail

template <> struct kernel_for<detail::layer_norm_fn, reference> {
  template <class T>
  static constexpr void backward(detail::layer_norm_geometry const& g, T const* x, T const* weight,
                                 T const* mean, T const* scale, T const* dy,
                                 detail::layer_norm_slopes<T> slopes, T* sums) {
    detail::layer_norm_backward<detail::rows_in_numbers>::run(g, x, weight, mean, scale, dy, slopes,
                                                              sums);
  }
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
