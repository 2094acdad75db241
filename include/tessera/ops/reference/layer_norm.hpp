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
    auto const row_of = [&](std::size_t r) -> layer_norm_product<T> {
      return {{dy + r * g.features, weight}, x + r * g.features, mean[r], scale[r]};
    };
    for (auto i = std::size_t{0}; i < 2 * g.features; ++i) sums[i] = -T{0};
    for (auto first = std::size_t{0}; first < g.rows; first += most_rows) {
      auto const end = g.rows - first < most_rows ? g.rows : first + most_rows;
      if (slopes.dx != nullptr) inputs<T>(g, first, end, row_of, slopes);
      for (auto r = first; r < end && slopes.dweight != nullptr; ++r)
        parameters(g, row_of(r), sums, sums + g.features);
    }
    if (slopes.dweight == nullptr) return;
    for (auto i = std::size_t{0}; i < g.features; ++i) {
      slopes.dweight[i] = slopes.dweight[i] + sums[i];
      slopes.dbias[i] = slopes.dbias[i] + sums[g.features + i];
    }
  }

 private:
  static constexpr std::size_t most_rows = 8;

  /// dx = (d - mean of d - normal·mean of products)·scale
  template <class T>
  static constexpr void inputs(layer_norm_geometry const& g, std::size_t first, std::size_t end,
                               auto const& row_of, layer_norm_slopes<T> slopes) {
    T mean_d[most_rows]{};
    T mean_product[most_rows]{};
    auto const count = static_cast<T>(g.features);
    for (auto r = first; r < end; ++r) {
      mean_d[r - first] = Rows::template total<T>(row_of(r).d, g.features) / count;
      mean_product[r - first] = Rows::template total<T>(row_of(r), g.features) / count;
    }
    for (auto r = first; r < end; ++r) {
      auto const row = row_of(r);
      auto const of_d = mean_d[r - first];
      auto const of_product = mean_product[r - first];
      auto* const dx = slopes.dx + r * g.features;
      Rows::template each<T>(g.features, [&](auto lanes, std::size_t i) TESSERA_INLINE {
        auto const centered = row.d.get(lanes, i) - lanes.splat(of_d);
        auto const part = row.normal(lanes, i) * lanes.splat(of_product);
        auto const slope = (centered - part) * lanes.splat(row.scale);
        lanes.store(dx + i, slopes.adds ? lanes.load(dx + i) + slope : slope);
      });
    }
  }
  template <class T>
  static constexpr void parameters(layer_norm_geometry const& g, layer_norm_product<T> const& row,
                                   T* of_weight, T* of_bias) {
    Rows::template each<T>(g.features, [&](auto lanes, std::size_t i) TESSERA_INLINE {
      auto const slope = lanes.load(row.d.dy + i);
      lanes.store(of_weight + i, lanes.load(of_weight + i) + slope * row.normal(lanes, i));
      lanes.store(of_bias + i, lanes.load(of_bias + i) + slope);
    });
  }
};

struct rows_in_numbers : in_numbers {
  template <class T> static constexpr auto total(auto const& row, std::size_t n) -> T {
    auto sum = reductions::lanes<reductions::adds, T>{};
    for (auto i = std::size_t{0}; i < n; ++i) sum.add(row.get(one_lane{}, i));
    return sum.total();
  }
};

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
