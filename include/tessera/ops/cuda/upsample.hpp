// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/ops/upsample.hpp>

namespace tessera {

namespace detail {

template <class T> struct upsample_number {
  upsample_geometry g;
  T const* x;
  T* y;
  TESSERA_DEVICE void operator()(std::size_t i) const {
    y[i] = x[g.source(i / g.channels) + i % g.channels];
  }
};
/// One number of x gets the slopes of its square, by rows ascending.
template <class T> struct upsample_slope {
  upsample_geometry g;
  T const* dy;
  T* dx;
  TESSERA_DEVICE void operator()(std::size_t at) const {
    auto const channel = at % g.channels;
    auto const column = at / g.channels % g.width * g.factor;
    auto const row = at / g.channels / g.width * g.factor;  // images lie below each other
    auto sum = T{0};
    for (auto i = row; i < row + g.factor; ++i)
      for (auto j = column; j < column + g.factor; ++j)
        sum += dy[(i * g.width * g.factor + j) * g.channels + channel];
    dx[at] = sum;
  }
};

}  // namespace detail

template <> struct kernel_for<detail::upsample_fn, cuda> {
  template <class T> static void forward(detail::upsample_geometry const& g, T const* x, T* y) {
    device::for_each(g.pixels() * g.channels, detail::upsample_number<T>{g, x, y});
  }
  template <class T> static void backward(detail::upsample_geometry const& g, T const* dy, T* dx) {
    device::for_each(g.batch * g.height * g.width * g.channels,
                     detail::upsample_slope<T>{g, dy, dx});
  }
};

}  // namespace tessera
