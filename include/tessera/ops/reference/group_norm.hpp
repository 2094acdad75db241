// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/lane.hpp>
#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/in_numbers.hpp>
#include <tessera/ops/reference/no_activation.hpp>

#include <type_traits>

namespace tessera {

namespace detail {

/// The passes of a group norm, for channels by numbers or by vectors: sums over the pixels of a
/// channel, ascending, and then over the channels of a group.
template <class Channels> struct group_norm_passes {
  template <class T, class Activation = no_activation>
  static constexpr void forward(group_norm_geometry const& g, T const* x, T const* weight,
                                T const* bias, T epsilon, T* y, T* mean, T* scale, T* sums) {
    if (g.pixels == 0) return;
    auto const size = g.pixels * g.channels;
    for (auto b = std::size_t{0}; b < g.batch;
         ++b, x += size, y += size, mean += g.groups, scale += g.groups) {
      auto* const shift = sums + g.channels;
      sum_of_pixels<T>(g, sums, [&](auto lanes, std::size_t at, std::size_t) TESSERA_INLINE {
        return lanes.load(x + at);
      });
      mean_of_groups(g, sums, mean);
      each_channel(g, [&](std::size_t c, std::size_t k) { shift[c] = mean[k]; });
      sum_of_pixels<T>(g, sums, [&](auto lanes, std::size_t at, std::size_t c) TESSERA_INLINE {
        auto const d = lanes.load(x + at) - lanes.load(shift + c);
        return d * d;
      });
      mean_of_groups(g, sums, scale);
      for (auto k = std::size_t{0}; k < g.groups; ++k)
        scale[k] = T{1} / lane::sqrt(scale[k] + epsilon);
      each_channel(g, [&](std::size_t c, std::size_t k) {
        sums[c] = weight == nullptr ? scale[k] : scale[k] * weight[c];
        shift[c] = lane::fma(-mean[k], sums[c], bias == nullptr ? T{0} : bias[c]);
      });
      each_pixel<T>(
          g, sums, shift,
          [&](auto lanes, auto factor, auto term, std::size_t at, std::size_t) TESSERA_INLINE {
            using lane::fma;
            lanes.store(y + at, Activation::apply(fma(lanes.load(x + at), factor, term)));
          });
    }
  }
  /// With an activation, dy is the slope of what that gave: the slope through it is computed once,
  /// and stands in dx until the sums over its group are known.
  template <class T, class Activation = no_activation>
  static constexpr void backward(group_norm_geometry const& g, T const* x, T const* weight,
                                 T const* bias, T const* mean, T const* scale, T const* dy,
                                 group_norm_slopes<T> slopes, T* sums) {
    if (g.pixels == 0) return;
    constexpr auto keeps = not std::is_same_v<Activation, no_activation>;
    auto* dx = slopes.dx;
    auto const step = g.channels;
    auto const size = g.pixels * step;
    auto* const products = sums + step;
    auto* const factor = products + step;
    auto* const term = factor + step;
    for (auto b = std::size_t{0}; b < g.batch;
         ++b, x += size, dy += size, mean += g.groups, scale += g.groups) {
      each_channel(g, [&](std::size_t c, std::size_t k) {
        sums[c] = mean[k];
        factor[c] = weight == nullptr ? scale[k] : scale[k] * weight[c];
        term[c] = lane::fma(-mean[k], factor[c], bias == nullptr ? T{0} : bias[c]);
      });
      auto const slope_at = [&](auto lanes, std::size_t at, std::size_t c) TESSERA_INLINE {
        using lane::fma;
        auto const normal = fma(lanes.load(x + at), lanes.load(factor + c), lanes.load(term + c));
        auto const slope = Activation::slope_through(lanes.load(dy + at), normal);
        if (keeps && dx != nullptr) lanes.store(dx + at, slope);
        return slope;
      };
      Channels::template down<T, 2>(
          g.channels, 1, g.pixels,
          [&](auto lanes, std::size_t c) TESSERA_INLINE {
            auto const sum = slope_at(lanes, c, c);
            auto const of_slope = sum_begun<T>(lanes, sum);
            return two_sums<std::remove_const_t<decltype(of_slope)>>{
                of_slope, sum_begun<T>(lanes, sum * (lanes.load(x + c) - lanes.load(sums + c)))};
          },
          [&](auto lanes, auto& kept, std::size_t at, std::size_t c) TESSERA_INLINE {
            auto const slope = slope_at(lanes, at, c);
            kept.of_product.add(slope * (lanes.load(x + at) - lanes.load(sums + c)));
            kept.of_slope.add(slope);
          },
          [&](auto lanes, std::size_t c, auto const& kept) TESSERA_INLINE {
            lanes.store(products + c, kept.of_product.total);
            lanes.store(sums + c, kept.of_slope.total);
          });
      each_channel(g, [&](std::size_t c, std::size_t k) {
        products[c] = products[c] * scale[k];
        if (slopes.dweight == nullptr) return;
        slopes.dweight[c] += products[c];
        slopes.dbias[c] += sums[c];
      });
      if (dx == nullptr) continue;
      factors_of_input(g, weight, mean, scale, sums, products);
      auto const* const slope = keeps ? dx : dy;
      each_pixel<T>(g, sums, products,
                    [&](auto lanes, auto of_x, auto shift, std::size_t at, std::size_t c)
                        TESSERA_INLINE {
                          using lane::fma;
                          lanes.store(dx + at, fma(lanes.load(slope + at), lanes.load(factor + c),
                                                   fma(lanes.load(x + at), of_x, shift)));
                        });
      dx += size;
    }
  }

 private:
  /// A sum by blocks: what is added to no number is -0, and so that of one block is as it was.
  template <class T, class V> struct sum_of_blocks {
    V block;
    V total;

    TESSERA_INLINE constexpr void add(V number) { block = block + number; }
    TESSERA_INLINE constexpr void fold(auto lanes) {
      total = total + block;
      block = lanes.splat(T{-0.0});
    }
  };
  template <class T, class V>
  [[nodiscard]] TESSERA_INLINE static constexpr auto sum_begun(auto lanes, V first)
      -> sum_of_blocks<T, V> {
    return {first, lanes.splat(T{-0.0})};
  }
  template <class Sum> struct two_sums {
    Sum of_slope;
    Sum of_product;
    TESSERA_INLINE constexpr void fold(auto lanes) {
      of_slope.fold(lanes);
      of_product.fold(lanes);
    }
  };
  template <class V> struct affine {
    V factor;
    V term;
  };
  /// From the sums of dy and of its products with the normal x, by channels: dx = scale·(w·dy -
  /// mean of slopes - normal·mean of products) as dy·a + (x·s + t), with s in sums and t in
  /// products.
  template <class T>
  static constexpr void factors_of_input(group_norm_geometry const& g, T const* weight,
                                         T const* mean, T const* scale, T* sums, T* products) {
    auto const size = g.group_size();
    auto const n = static_cast<T>(g.pixels * size);
    for (auto k = std::size_t{0}; k < g.groups; ++k) {
      auto of_slope = T{0};
      auto of_product = T{0};
      for (auto c = k * size; c < (k + 1) * size; ++c) {
        auto const w = weight == nullptr ? T{1} : weight[c];
        of_slope = lane::fma(w, sums[c], of_slope);
        of_product = lane::fma(w, products[c], of_product);
      }
      auto const s = -scale[k] * scale[k] * (of_product / n);
      auto const t = lane::fma(-mean[k], s, -scale[k] * (of_slope / n));
      for (auto c = k * size; c < (k + 1) * size; ++c) sums[c] = s, products[c] = t;
    }
  }
  /// Channels with their group: quotients would take longer than the passes of a small image.
  static constexpr void each_channel(group_norm_geometry const& g, auto const& f) {
    auto const size = g.group_size();
    for (auto k = std::size_t{0}; k < g.groups; ++k)
      for (auto c = k * size; c < (k + 1) * size; ++c) f(c, k);
  }
  /// to[c] = the sum over the pixels of f(lanes, place, c).
  template <class T>
  static constexpr void sum_of_pixels(group_norm_geometry const& g, T* to, auto const& f) {
    Channels::template down<T, 4>(
        g.channels, 1, g.pixels,
        [&](auto lanes, std::size_t c)
            TESSERA_INLINE { return sum_begun<T>(lanes, f(lanes, c, c)); },
        [&](auto lanes, auto& sum, std::size_t at, std::size_t c)
            TESSERA_INLINE { sum.add(f(lanes, at, c)); },
        [&](auto lanes, std::size_t c, auto const& sum)
            TESSERA_INLINE { lanes.store(to + c, sum.total); });
  }
  /// f(lanes, factor, term, place, c) for every pixel, of two numbers for each channel.
  template <class T>
  static constexpr void each_pixel(group_norm_geometry const& g, T const* factors, T const* terms,
                                   auto const& f) {
    Channels::template down<T, 4>(
        g.channels, 0, g.pixels,
        [&](auto lanes, std::size_t c) TESSERA_INLINE {
          auto const factor = lanes.load(factors + c);
          return affine<std::remove_const_t<decltype(factor)>>{factor, lanes.load(terms + c)};
        },
        [&](auto lanes, auto const& own, std::size_t at, std::size_t c)
            TESSERA_INLINE { f(lanes, own.factor, own.term, at, c); },
        [](auto, std::size_t, auto const&) {});
  }
  template <class T>
  static constexpr void mean_of_groups(group_norm_geometry const& g, T const* sums, T* means) {
    auto const size = g.group_size();
    auto const n = static_cast<T>(g.pixels * size);
    for (auto k = std::size_t{0}; k < g.groups; ++k) {
      auto sum = T{0};
      for (auto c = k * size; c < (k + 1) * size; ++c) sum += sums[c];
      means[k] = sum / n;
    }
  }
};

}  // namespace detail

template <>
struct kernel_for<detail::group_norm_fn, reference>
    : detail::group_norm_passes<detail::in_numbers> {
  using takes_activation = kernel_for;
};

}  // namespace tessera
