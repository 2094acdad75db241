// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/reference/rotary.hpp>
#include <tessera/ops/simd/in_vectors.hpp>
#include <tessera/tensor/simd/reduction.hpp>

namespace tessera {

namespace detail::inline TESSERA_TARGET {

struct rotary_in_vectors : in_vectors {
  template <class T>
  static void turn_neighbours(std::size_t n, T* x, T const* cosine, T const* sine) {
    constexpr auto lanes = whole_lanes<T>{};
    constexpr auto width = whole_lanes<T>::width;
    auto i = std::size_t{0};
    for (; i + width <= n; i += width) {
      using lane::fma;
      auto const v = lanes.load(x + i);
      lanes.store(x + i, fma(v, lanes.load(cosine + i), exchanged<1>(v) * lanes.load(sine + i)));
    }
    rotary_in_numbers::turn_neighbours(n - i, x + i, cosine + i, sine + i);
  }
};

}  // namespace detail::inline TESSERA_TARGET

template <>
struct kernel_for<detail::rotary_fn, simd> : detail::rotary_pass<detail::rotary_in_vectors> {};

}  // namespace tessera
