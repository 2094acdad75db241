// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/avg_pool2d.hpp>
#include <tessera/ops/cuda/max_pool2d.hpp>

namespace tessera {

namespace detail {

template <class T> struct avg_pool2d_number {
  avg_pool2d_geometry g;
  T const* x;
  T* y;
  TESSERA_DEVICE void operator()(std::size_t n) const {
    auto const& w = g.windows;
    auto const pixel = n / w.channels;
    auto const rows = w.rows(pixel / w.out.width % w.out.height);
    auto const columns = w.columns(pixel % w.out.width);
    auto const image = max_pool2d_window<T>{w, x};
    auto sum = T{0};
    for (auto i = rows.begin; i < rows.end; ++i)
      for (auto j = columns.begin; j < columns.end; ++j)
        sum += x[image.at(pixel / w.out.area(), i, j, n % w.channels)];
    y[n] = sum / static_cast<T>(g.count(rows, columns));
  }
};
/// One number of x gets its share of the windows that have it, ascending.
template <class T> struct avg_pool2d_slope {
  avg_pool2d_geometry g;
  T const* dy;
  T* dx;
  TESSERA_DEVICE void operator()(std::size_t n) const {
    using slope = max_pool2d_slope<T>;
    auto const& w = g.windows;
    auto const pixel = n / w.channels;
    auto const rows = slope::windows(pixel / w.in.width % w.in.height, w.stride.height,
                                     w.padding.height, w.window.height, w.out.height);
    auto const columns = slope::windows(pixel % w.in.width, w.stride.width, w.padding.width,
                                        w.window.width, w.out.width);
    auto sum = T{0};
    for (auto i = rows.begin; i < rows.end; ++i)
      for (auto j = columns.begin; j < columns.end; ++j)
        sum += dy[((pixel / w.in.area() * w.out.height + i) * w.out.width + j) * w.channels +
                  n % w.channels] /
               static_cast<T>(g.count(w.rows(i), w.columns(j)));
    dx[n] = sum;
  }
};

}  // namespace detail

template <> struct kernel_for<detail::avg_pool2d_fn, cuda> {
  using geometry = detail::avg_pool2d_geometry;

  template <class T> static void forward(geometry const& g, T const* x, T* y) {
    auto const& w = g.windows;
    device::for_each(w.images * w.out.area() * w.channels, detail::avg_pool2d_number<T>{g, x, y});
  }
  template <class T> static void backward(geometry const& g, T const* dy, T* dx) {
    auto const& w = g.windows;
    device::for_each(w.images * w.in.area() * w.channels, detail::avg_pool2d_slope<T>{g, dy, dx});
  }
};

}  // namespace tessera
