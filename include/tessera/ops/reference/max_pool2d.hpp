// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/lane.hpp>
#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/in_numbers.hpp>

#include <limits>

namespace tessera {

namespace detail {

/// The passes of a pooling by the largest number, for channels by numbers or by vectors. A NaN is
/// larger than all numbers.
template <class Channels> struct max_pool2d_passes {
  using geometry = max_pool2d_geometry;

  template <class T> static constexpr void forward(geometry const& g, T const* x, T* y) {
    each_window(g, [&](auto const& first, auto const& window) {
      Channels::template each<T>(g.channels, [&](auto lanes, std::size_t c) TESSERA_INLINE {
        auto most = lanes.splat(-std::numeric_limits<T>::infinity());
        each_place(g, window, [&](std::size_t at) TESSERA_INLINE {
          auto const v = lanes.load(x + at + c);
          most = choose(v > most || v != v, v, most);
        });
        lanes.store(y + first + c, most);
      });
    });
  }
  template <class T>
  static constexpr void backward(geometry const& g, T const* x, T const* y, T const* dy, T* dx) {
    auto const numbers = g.images * g.in.area() * g.channels;
    Channels::template each<T>(numbers, [&](auto lanes, std::size_t i) TESSERA_INLINE {
      lanes.store(dx + i, lanes.splat(T{0}));
    });
    each_window(g, [&](auto const& first, auto const& window) {
      Channels::template each<T>(g.channels, [&](auto lanes, std::size_t c) TESSERA_INLINE {
        auto const none = lanes.splat(T{0});
        auto const most = lanes.load(y + first + c);
        auto left = lanes.load(dy + first + c);
        auto open = none == none;
        each_place(g, window, [&](std::size_t at) TESSERA_INLINE {
          auto const v = lanes.load(x + at + c);
          auto const here = open && (v == most || v != v);
          auto const before = lanes.load(dx + at + c);
          lanes.store(dx + at + c, choose(here, before + left, before));
          open = open && !here;
        });
      });
    });
  }

 protected:
  /// f(place in y, {first number of the image in x, rows, columns}) for every window, ascending.
  struct window_of {
    std::size_t image;
    geometry::part rows;
    geometry::part columns;
  };
  static constexpr void each_window(geometry const& g, auto const& f) {
    auto first = std::size_t{0};
    for (auto b = std::size_t{0}; b < g.images; ++b)
      for (auto i = std::size_t{0}; i < g.out.height; ++i)
        for (auto j = std::size_t{0}; j < g.out.width; ++j, first += g.channels)
          f(first, window_of{b * g.in.area() * g.channels, g.rows(i), g.columns(j)});
  }
  /// f(place in x of channel 0) for every pixel of a window, by rows.
  TESSERA_INLINE static constexpr void each_place(geometry const& g, window_of const& w,
                                                  auto const& f) {
    for (auto i = w.rows.begin; i < w.rows.end; ++i)
      for (auto j = w.columns.begin; j < w.columns.end; ++j)
        f(w.image + (i * g.in.width + j) * g.channels);
  }

 private:
  template <class M, class V>
  [[nodiscard]] TESSERA_INLINE static constexpr auto choose(M const& m, V a, V b) -> V {
    using lane::select;
    return select(m, a, b);
  }
};

}  // namespace detail

template <>
struct kernel_for<detail::max_pool2d_fn, reference>
    : detail::max_pool2d_passes<detail::in_numbers> {};

}  // namespace tessera
