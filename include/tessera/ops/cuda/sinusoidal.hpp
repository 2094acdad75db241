// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/ops/sinusoidal.hpp>

namespace tessera {

namespace detail {

template <class T> struct sinusoidal_number {
  T const* x;
  std::size_t half;
  T const* frequency;
  T* y;
  TESSERA_DEVICE void operator()(std::size_t at) const {
    auto const i = at / (2 * half);
    auto const k = at % (2 * half);
    y[at] = k < half ? lane::cos(x[i] * frequency[k]) : lane::sin(x[i] * frequency[k - half]);
  }
};
template <class T> struct sinusoidal_slope {
  T const* x;
  std::size_t half;
  T const* frequency;
  T const* dy;
  T* dx;
  TESSERA_DEVICE void operator()(std::size_t i) const {
    kernel_for<sinusoidal_fn, reference>::backward(1, x + i, half, frequency, dy + 2 * half * i,
                                                   dx + i);
  }
};

}  // namespace detail

template <> struct kernel_for<detail::sinusoidal_fn, cuda> {
  template <class T>
  static void forward(std::size_t count, T const* x, std::size_t half, T const* frequency, T* y) {
    device::for_each(
        2 * half * count,
        detail::sinusoidal_number<T>{x, half, device::current().constant(frequency, half), y});
  }
  template <class T>
  static void backward(std::size_t count, T const* x, std::size_t half, T const* frequency,
                       T const* dy, T* dx) {
    device::for_each(count, detail::sinusoidal_slope<T>{
                                x, half, device::current().constant(frequency, half), dy, dx});
  }
};

}  // namespace tessera
