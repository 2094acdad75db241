// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/reference/max_pool2d.hpp>

namespace tessera {

namespace detail {

/// The passes of a pooling by the mean, for channels by numbers or by vectors: sums by rows.
template <class Channels> struct avg_pool2d_passes : private max_pool2d_passes<Channels> {
  using geometry = avg_pool2d_geometry;
  using base = max_pool2d_passes<Channels>;

  template <class T> static constexpr void forward(geometry const& g, T const* x, T* y) {
    auto const& w = g.windows;
    base::each_window(w, [&](auto const& first, auto const& window) {
      auto const count = static_cast<T>(g.count(window.rows, window.columns));
      Channels::template each<T>(w.channels, [&](auto lanes, std::size_t c) TESSERA_INLINE {
        auto sum = lanes.splat(T{0});
        base::each_place(
            w, window, [&](std::size_t at) TESSERA_INLINE { sum = sum + lanes.load(x + at + c); });
        lanes.store(y + first + c, sum / lanes.splat(count));
      });
    });
  }
  template <class T> static constexpr void backward(geometry const& g, T const* dy, T* dx) {
    auto const& w = g.windows;
    Channels::template each<T>(w.images * w.in.area() * w.channels,
                               [&](auto lanes, std::size_t i)
                                   TESSERA_INLINE { lanes.store(dx + i, lanes.splat(T{0})); });
    base::each_window(w, [&](auto const& first, auto const& window) {
      auto const count = static_cast<T>(g.count(window.rows, window.columns));
      Channels::template each<T>(w.channels, [&](auto lanes, std::size_t c) TESSERA_INLINE {
        auto const share = lanes.load(dy + first + c) / lanes.splat(count);
        base::each_place(w, window, [&](std::size_t at) TESSERA_INLINE {
          lanes.store(dx + at + c, lanes.load(dx + at + c) + share);
        });
      });
    });
  }
};

}  // namespace detail

template <>
struct kernel_for<detail::avg_pool2d_fn, reference>
    : detail::avg_pool2d_passes<detail::in_numbers> {};

}  // namespace tessera
