// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary.hpp>
#include <tessera/ops/operations.hpp>

namespace tessera {

template <> struct kernel_for<detail::sinusoidal_fn, reference> {
  template <class T>
  static constexpr void forward(std::size_t count, T const* x, std::size_t half, T const* frequency,
                                T* y) {
    for (auto i = std::size_t{0}; i < count; ++i) {
      for (auto k = std::size_t{0}; k < half; ++k) {
        y[2 * half * i + k] = lane::cos(x[i] * frequency[k]);
        y[2 * half * i + half + k] = lane::sin(x[i] * frequency[k]);
      }
    }
  }
  template <class T>
  static constexpr void backward(std::size_t count, T const* x, std::size_t half,
                                 T const* frequency, T const* dy, T* dx) {
    for (auto i = std::size_t{0}; i < count; ++i) {
      auto slope = T{0};
      for (auto k = std::size_t{0}; k < half; ++k) {
        auto const of_cosine = dy[2 * half * i + k] * lane::sin(x[i] * frequency[k]);
        auto const of_sine = dy[2 * half * i + half + k] * lane::cos(x[i] * frequency[k]);
        slope = lane::fma(of_sine - of_cosine, frequency[k], slope);
      }
      dx[i] = slope;
    }
  }
};

}  // namespace tessera
