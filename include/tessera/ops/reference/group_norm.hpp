// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/lane.hpp>
#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/in_numbers.hpp>

namespace tessera {

namespace detail {

/// The passes of a group norm, for channels by numbers or by vectors: sums over the pixels of a
/// channel, ascending, and then over the channels of a group.
template <class Channels> struct group_norm_passes {
  template <class T>
  static constexpr void forward(group_norm_geometry const& g, T const* x, T const* weight,
                                T const* bias, T epsilon, T* y, T* mean, T* scale, T* sums) {
    for (auto b = std::size_t{0}; b < g.batch; ++b, x += g.pixels * g.channels,
              y += g.pixels * g.channels, mean += g.groups, scale += g.groups) {
      auto* const shift = sums + g.channels;
      sum_of_pixels<T>(g, sums, [&](auto lanes, std::size_t at, std::size_t) TESSERA_INLINE {
        return lanes.load(x + at);
      });
      mean_of_groups(g, sums, mean);
      for (auto c = std::size_t{0}; c < g.channels; ++c) shift[c] = mean[c / g.group_size()];
      sum_of_pixels<T>(g, sums, [&](auto lanes, std::size_t at, std::size_t c) TESSERA_INLINE {
        auto const d = lanes.load(x + at) - lanes.load(shift + c);
        return d * d;
      });
      mean_of_groups(g, sums, scale);
      for (auto k = std::size_t{0}; k < g.groups; ++k)
        scale[k] = T{1} / lane::sqrt(scale[k] + epsilon);
      for (auto c = std::size_t{0}; c < g.channels; ++c) {
        auto const k = c / g.group_size();
        sums[c] = weight == nullptr ? scale[k] : scale[k] * weight[c];
        shift[c] = lane::fma(-mean[k], sums[c], bias == nullptr ? T{0} : bias[c]);
      }
      each_pixel<T>(g, [&](auto lanes, std::size_t at, std::size_t c) TESSERA_INLINE {
        using lane::fma;
        lanes.store(y + at, fma(lanes.load(x + at), lanes.load(sums + c), lanes.load(shift + c)));
      });
    }
  }
  template <class T>
  static constexpr void backward(group_norm_geometry const& g, T const* x, T const* weight,
                                 T const* mean, T const* scale, T const* dy,
                                 group_norm_slopes<T> slopes, T* sums) {
    auto* dx = slopes.dx;
    for (auto b = std::size_t{0}; b < g.batch; ++b, x += g.pixels * g.channels,
              dy += g.pixels * g.channels, mean += g.groups, scale += g.groups) {
      auto* const products = sums + g.channels;
      for (auto c = std::size_t{0}; c < g.channels; ++c) sums[c] = mean[c / g.group_size()];
      Channels::template each<T>(g.channels, [&](auto lanes, std::size_t c) TESSERA_INLINE {
        auto const center = lanes.load(sums + c);
        auto sum = lanes.load(dy + c);
        auto product = sum * (lanes.load(x + c) - center);
        for (auto at = g.channels + c; at < g.pixels * g.channels; at += g.channels) {
          auto const slope = lanes.load(dy + at);
          product = product + slope * (lanes.load(x + at) - center);
          sum = sum + slope;
        }
        lanes.store(products + c, product);
        lanes.store(sums + c, sum);
      });
      for (auto c = std::size_t{0}; c < g.channels; ++c) {
        products[c] = products[c] * scale[c / g.group_size()];
        if (slopes.dweight == nullptr) continue;
        slopes.dweight[c] += products[c];
        slopes.dbias[c] += sums[c];
      }
      if (dx == nullptr || g.pixels == 0) continue;
      factors_of_input(g, weight, mean, scale, sums, products);
      // The factors of dy lie where the first pixel goes, which is written last.
      for (auto c = std::size_t{0}; c < g.channels; ++c) {
        auto const k = c / g.group_size();
        dx[c] = weight == nullptr ? scale[k] : scale[k] * weight[c];
      }
      each_pixel<T>(g, [&](auto lanes, std::size_t at, std::size_t c) TESSERA_INLINE {
        using lane::fma;
        auto const of_x = fma(lanes.load(x + at), lanes.load(sums + c), lanes.load(products + c));
        lanes.store(dx + at, fma(lanes.load(dy + at), lanes.load(dx + c), of_x));
      });
      dx += g.pixels * g.channels;
    }
  }

 private:
  /// From the sums of dy and of its products with the normal x, by channels: dx = scale·(w·dy -
  /// mean of slopes - normal·mean of products) as dy·a + (x·s + t), with s in sums and t in
  /// products.
  template <class T>
  static constexpr void factors_of_input(group_norm_geometry const& g, T const* weight,
                                         T const* mean, T const* scale, T* sums, T* products) {
    auto const n = static_cast<T>(g.pixels * g.group_size());
    for (auto k = std::size_t{0}; k < g.groups; ++k) {
      auto of_slope = T{0};
      auto of_product = T{0};
      for (auto c = k * g.group_size(); c < (k + 1) * g.group_size(); ++c) {
        auto const w = weight == nullptr ? T{1} : weight[c];
        of_slope = lane::fma(w, sums[c], of_slope);
        of_product = lane::fma(w, products[c], of_product);
      }
      auto const s = -scale[k] * scale[k] * (of_product / n);
      auto const t = lane::fma(-mean[k], s, -scale[k] * (of_slope / n));
      for (auto c = k * g.group_size(); c < (k + 1) * g.group_size(); ++c)
        sums[c] = s, products[c] = t;
    }
  }
  /// to[c] = the sum over the pixels of f(lanes, place, c).
  template <class T>
  static constexpr void sum_of_pixels(group_norm_geometry const& g, T* to, auto const& f) {
    Channels::template each<T>(g.channels, [&](auto lanes, std::size_t c) TESSERA_INLINE {
      auto sum = f(lanes, c, c);
      for (auto p = std::size_t{1}; p < g.pixels; ++p) sum = sum + f(lanes, p * g.channels + c, c);
      lanes.store(to + c, sum);
    });
  }
  /// The first pixel comes last.
  template <class T> static constexpr void each_pixel(group_norm_geometry const& g, auto const& f) {
    for (auto p = g.pixels; p-- > 0;)
      Channels::template each<T>(g.channels, [&](auto lanes, std::size_t c) TESSERA_INLINE {
        f(lanes, p * g.channels + c, c);
      });
  }
  template <class T>
  static constexpr void mean_of_groups(group_norm_geometry const& g, T const* sums, T* means) {
    auto const n = static_cast<T>(g.pixels * g.group_size());
    for (auto k = std::size_t{0}; k < g.groups; ++k) {
      auto sum = T{0};
      for (auto c = k * g.group_size(); c < (k + 1) * g.group_size(); ++c) sum += sums[c];
      means[k] = sum / n;
    }
  }
};

}  // namespace detail

template <>
struct kernel_for<detail::group_norm_fn, reference>
    : detail::group_norm_passes<detail::in_numbers> {};

}  // namespace tessera
