// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/ops/max_pool2d.hpp>

namespace tessera {

namespace detail {

/// Where the largest number of a window is: the first one, or the first that is none.
template <class T> struct max_pool2d_window {
  max_pool2d_geometry g;
  T const* x;

  [[nodiscard]] TESSERA_DEVICE auto place(std::size_t image, std::size_t i, std::size_t j,
                                          std::size_t channel) const -> std::size_t {
    auto const rows = g.rows(i);
    auto const columns = g.columns(j);
    auto best = at(image, rows.begin, columns.begin, channel);
    for (auto r = rows.begin; r < rows.end; ++r)
      for (auto c = columns.begin; c < columns.end; ++c) {
        auto const next = at(image, r, c, channel);
        if (x[best] == x[best] && (x[next] > x[best] || x[next] != x[next])) best = next;
      }
    return best;
  }
  [[nodiscard]] TESSERA_DEVICE auto at(std::size_t image, std::size_t row, std::size_t column,
                                       std::size_t channel) const -> std::size_t {
    return ((image * g.in.height + row) * g.in.width + column) * g.channels + channel;
  }
};
template <class T> struct max_pool2d_number {
  max_pool2d_window<T> window;
  T* y;
  TESSERA_DEVICE void operator()(std::size_t n) const {
    auto const& g = window.g;
    auto const pixel = n / g.channels;
    y[n] = window.x[window.place(pixel / g.out.area(), pixel / g.out.width % g.out.height,
                                 pixel % g.out.width, n % g.channels)];
  }
};
/// One number of x gets the slopes of the windows whose largest it is, ascending.
template <class T> struct max_pool2d_slope {
  max_pool2d_window<T> window;
  T const* dy;
  T* dx;

  /// The windows of an axis that have place `at`.
  [[nodiscard]] TESSERA_DEVICE static auto windows(std::size_t at, std::size_t stride,
                                                   std::size_t padding, std::size_t size,
                                                   std::size_t count) -> max_pool2d_geometry::part {
    auto const reached = at + padding;
    auto const last = reached / stride + 1;
    return {reached < size ? 0 : (reached - size) / stride + 1, last < count ? last : count};
  }
  TESSERA_DEVICE void operator()(std::size_t n) const {
    auto const& g = window.g;
    auto const pixel = n / g.channels;
    auto const image = pixel / g.in.area();
    auto const rows = windows(pixel / g.in.width % g.in.height, g.stride.height, g.padding.height,
                              g.window.height, g.out.height);
    auto const columns =
        windows(pixel % g.in.width, g.stride.width, g.padding.width, g.window.width, g.out.width);
    auto sum = T{0};
    for (auto i = rows.begin; i < rows.end; ++i)
      for (auto j = columns.begin; j < columns.end; ++j)
        if (window.place(image, i, j, n % g.channels) == n)
          sum += dy[((image * g.out.height + i) * g.out.width + j) * g.channels + n % g.channels];
    dx[n] = sum;
  }
};

}  // namespace detail

template <> struct kernel_for<detail::max_pool2d_fn, cuda> {
  using geometry = detail::max_pool2d_geometry;

  template <class T> static void forward(geometry const& g, T const* x, T* y) {
    device::for_each(g.images * g.out.area() * g.channels, detail::max_pool2d_number<T>{{g, x}, y});
  }
  template <class T>
  static void backward(geometry const& g, T const* x, T const*, T const* dy, T* dx) {
    device::for_each(g.images * g.in.area() * g.channels,
                     detail::max_pool2d_slope<T>{{g, x}, dy, dx});
  }
};

}  // namespace tessera
