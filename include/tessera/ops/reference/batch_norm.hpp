// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/lane.hpp>
#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/in_numbers.hpp>
#include <tessera/ops/reference/no_activation.hpp>

#include <type_traits>

namespace tessera {

namespace detail {

/// The passes of a batch norm, for features by numbers or by vectors: sums go over the rows of a
/// group, ascending.
template <class Features> struct batch_norm_passes {
  using geometry = batch_norm_geometry;

  template <class T>
  static constexpr void observe(geometry const& g, T const* x, T epsilon, T* mean, T* scale,
                                batch_norm_seen<T> groups, batch_norm_seen<T> seen) {
    for (auto k = std::size_t{0}; k < g.groups(); ++k, mean += g.features, scale += g.features) {
      auto const part = groups.of_group(k, g.features);
      auto const n = static_cast<T>(g.rows_of(k));
      *part.count = n;
      Features::template each<T>(g.features, [&](auto lanes, std::size_t c) TESSERA_INLINE {
        auto const size = lanes.splat(n);
        auto const center =
            sum_of_rows(g, k, c,
                        [&](std::size_t at) TESSERA_INLINE { return lanes.load(x + at); }) /
            size;
        // What the sum of many rows lost is in the sum of their distances.
        auto const of_group = sum_of_rows(g, k, c, [&](std::size_t at) TESSERA_INLINE {
          auto const d = lanes.load(x + at) - center;
          return two_sums<std::remove_const_t<decltype(d)>>{d, d * d};
        });
        auto const lost = of_group.first / size;
        using lane::max;
        auto const squares = max(lanes.splat(T{0}), of_group.second - of_group.first * lost);
        lanes.store(mean + c, center + lost);
        lanes.store(part.mean + c, center + lost);
        lanes.store(part.squares + c, squares);
        lanes.store(scale + c, inverse_root(lanes, squares / size, epsilon));
      });
    }
    by_halves(g.groups(), [&](std::size_t to, std::size_t from) {
      fold<T>(g.features, groups.of_group(to, g.features), groups.of_group(from, g.features));
    });
    auto const none = g.groups() == 0;
    *seen.count = none ? T{0} : *groups.count;
    Features::template each<T>(g.features, [&](auto lanes, std::size_t c) TESSERA_INLINE {
      lanes.store(seen.mean + c, none ? lanes.splat(T{0}) : lanes.load(groups.mean + c));
      lanes.store(seen.squares + c, none ? lanes.splat(T{0}) : lanes.load(groups.squares + c));
    });
  }
  template <class T>
  static constexpr void recall(std::size_t features, T const* running_mean, T const* running_var,
                               T epsilon, T* mean, T* scale) {
    Features::template each<T>(features, [&](auto lanes, std::size_t c) TESSERA_INLINE {
      lanes.store(mean + c, lanes.load(running_mean + c));
      lanes.store(scale + c, inverse_root(lanes, lanes.load(running_var + c), epsilon));
    });
  }
  template <class T, class Activation = no_activation>
  static constexpr void forward(geometry const& g, T const* x, T const* weight, T const* bias,
                                T const* mean, T const* scale, T* y) {
    for (auto k = std::size_t{0}; k < g.groups(); ++k, mean += g.features, scale += g.features)
      Features::template each<T>(g.features, [&](auto lanes, std::size_t c) TESSERA_INLINE {
        using lane::fma;
        auto const a = weighted(lanes, scale, weight, c);
        auto const b = shifted(lanes, mean, a, bias, c);
        each_row(g, k, c, [&](std::size_t at) TESSERA_INLINE {
          lanes.store(y + at, Activation::apply(fma(lanes.load(x + at), a, b)));
        });
      });
  }
  /// With an activation, dy is the slope of what that gave: the slope through it is computed once,
  /// and stands in dx until the sums over its group are known.
  template <class T, class Activation = no_activation>
  static constexpr void backward(geometry const& g, bool learns, T const* x, T const* weight,
                                 T const* bias, T const* mean, T const* scale, T const* dy,
                                 batch_norm_slopes<T> slopes, T* sums, T* products) {
    constexpr auto keeps = not std::is_same_v<Activation, no_activation>;
    auto* const dx = slopes.dx;
    auto const writes = dx != nullptr && (keeps || not learns);
    for (auto k = std::size_t{0}; k < g.groups(); ++k, mean += g.features, scale += g.features)
      Features::template each<T>(g.features, [&](auto lanes, std::size_t c) TESSERA_INLINE {
        using lane::fma;
        auto const center = lanes.load(mean + c);
        auto const s = lanes.load(scale + c);
        auto const a = weighted(lanes, scale, weight, c);
        auto const b = shifted(lanes, mean, a, bias, c);
        auto const of_group = sum_of_rows(g, k, c, [&](std::size_t at) TESSERA_INLINE {
          auto const number = lanes.load(x + at);
          auto const slope = Activation::slope_through(lanes.load(dy + at), fma(number, a, b));
          if (writes) lanes.store(dx + at, learns ? slope : slope * a);
          return two_sums<std::remove_const_t<decltype(slope)>>{slope, slope * (number - center)};
        });
        auto const product = of_group.second * s;
        lanes.store(sums + k * g.features + c, of_group.first);
        lanes.store(products + k * g.features + c, product);
        if (dx == nullptr || not learns) return;
        // dx = a·(dy - mean of dy - normal·mean of products), where normal = (x - center)·s
        auto const size = lanes.splat(static_cast<T>(g.rows_of(k)));
        auto const of_x = -a * s * (product / size);
        auto const constant = fma(-center, of_x, -a * (of_group.first / size));
        each_row(g, k, c, [&](std::size_t at) TESSERA_INLINE {
          auto const slope = lanes.load(keeps ? dx + at : dy + at);
          lanes.store(dx + at, fma(slope, a, fma(lanes.load(x + at), of_x, constant)));
        });
      });
    if (slopes.dweight == nullptr || g.rows == 0) return;
    add_groups(g, slopes.dbias, sums);
    add_groups(g, slopes.dweight, products);
  }
  template <class T>
  static constexpr void fold(std::size_t features, batch_norm_seen<T> to,
                             batch_norm_seen<T const> from) {
    auto const n = *to.count + *from.count;
    if (n == T{0}) return;
    auto const part = *from.count / n;
    auto const spread = *to.count * part;
    Features::template each<T>(features, [&](auto lanes, std::size_t c) TESSERA_INLINE {
      using lane::fma;
      auto const distance = lanes.load(from.mean + c) - lanes.load(to.mean + c);
      auto const squares = lanes.load(to.squares + c) + lanes.load(from.squares + c);
      lanes.store(to.squares + c, fma(distance * distance, lanes.splat(spread), squares));
      lanes.store(to.mean + c, fma(distance, lanes.splat(part), lanes.load(to.mean + c)));
    });
    *to.count = n;
  }
  template <class T>
  static constexpr void absorb(std::size_t features, T momentum, T* running_mean, T* running_var,
                               T* batches, batch_norm_seen<T const> seen) {
    auto const n = *seen.count;
    if (n == T{0}) return;
    auto const divisor = n > T{1} ? n - T{1} : T{1};
    // From the nearer end: what is left of a large one must not cancel.
    auto const is_mostly_new = momentum > T{0.5};
    auto const share = is_mostly_new ? T{1} - momentum : momentum;
    Features::template each<T>(features, [&](auto lanes, std::size_t c) TESSERA_INLINE {
      auto const move = [&](T* running, auto value) TESSERA_INLINE {
        using lane::fma;
        auto const before = lanes.load(running + c);
        auto const from = is_mostly_new ? value : before;
        auto const to = is_mostly_new ? before : value;
        lanes.store(running + c, fma(lanes.splat(share), to - from, from));
      };
      move(running_mean, lanes.load(seen.mean + c));
      move(running_var, lanes.load(seen.squares + c) / lanes.splat(divisor));
    });
    *batches += T{1};
  }

 private:
  template <class V> struct two_sums {
    V first;
    V second;
    TESSERA_INLINE friend constexpr auto operator+(two_sums a, two_sums b) -> two_sums {
      return {a.first + b.first, a.second + b.second};
    }
  };
  /// bias - mean·a
  template <class T>
  [[nodiscard]] TESSERA_INLINE static constexpr auto shifted(auto lanes, T const* mean, auto a,
                                                             T const* bias, std::size_t c) {
    using lane::fma;
    return fma(-lanes.load(mean + c), a,
               bias == nullptr ? lanes.splat(T{0}) : lanes.load(bias + c));
  }
  [[nodiscard]] TESSERA_INLINE static constexpr auto inverse_root(auto lanes, auto variance,
                                                                  auto epsilon) {
    using lane::sqrt;
    return lanes.splat(decltype(epsilon){1}) / sqrt(variance + lanes.splat(epsilon));
  }
  /// scale·weight, where there is one.
  template <class T>
  [[nodiscard]] TESSERA_INLINE static constexpr auto weighted(auto lanes, T const* scale,
                                                              T const* weight, std::size_t c) {
    auto const s = lanes.load(scale + c);
    return weight == nullptr ? s : s * lanes.load(weight + c);
  }
  /// f(place) for feature c of every row of group k; and the sum of what it gives.
  TESSERA_INLINE static constexpr void each_row(geometry const& g, std::size_t k, std::size_t c,
                                                auto const& f) {
    auto const end = g.first_row(k) + g.rows_of(k);
    for (auto r = g.first_row(k); r < end; ++r) f(r * g.features + c);
  }
  [[nodiscard]] TESSERA_INLINE static constexpr auto sum_of_rows(geometry const& g, std::size_t k,
                                                                 std::size_t c, auto const& f) {
    auto const end = g.first_row(k) + g.rows_of(k);
    auto sum = f(g.first_row(k) * g.features + c);
    for (auto r = g.first_row(k) + 1; r < end; ++r) sum = sum + f(r * g.features + c);
    return sum;
  }
  static constexpr void by_halves(std::size_t groups, auto const& join) {
    for (auto distance = std::size_t{1}; distance < groups; distance *= 2)
      for (auto k = std::size_t{0}; k + distance < groups; k += 2 * distance) join(k, k + distance);
  }
  /// Adds what the groups have, which it folds.
  template <class T> static constexpr void add_groups(geometry const& g, T* to, T* groups) {
    by_halves(g.groups(), [&](std::size_t into, std::size_t from) {
      add(g.features, groups + into * g.features, groups + from * g.features);
    });
    add(g.features, to, groups);
  }
  template <class T> static constexpr void add(std::size_t n, T* to, T const* from) {
    Features::template each<T>(n, [&](auto lanes, std::size_t i) TESSERA_INLINE {
      lanes.store(to + i, lanes.load(to + i) + lanes.load(from + i));
    });
  }
};

}  // namespace detail

template <>
struct kernel_for<detail::batch_norm_fn, reference>
    : detail::batch_norm_passes<detail::in_numbers> {
  using takes_activation = kernel_for;
};

}  // namespace tessera
