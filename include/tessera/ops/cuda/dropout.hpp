// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/queue.hpp>
#include <tessera/ops/dropout.hpp>

namespace tessera {

namespace detail {

/// Four elements share a Philox block.
template <class T> struct dropout_block {
  dropout_draw draw;
  std::size_t n;
  T const* x;
  T* y;
  TESSERA_DEVICE void operator()(std::size_t block) const {
    auto const words = draw.stream.block(draw.first_block + block);
    auto const scale = static_cast<T>(draw.scale);
    for (auto k = std::size_t{0}; k < 4 && 4 * block + k < n; ++k) {
      auto const i = 4 * block + k;
      y[i] = words[k] < draw.threshold ? T{0} : x[i] * scale;
    }
  }
};

}  // namespace detail

template <> struct kernel_for<detail::dropout_fn, cuda> {
  static void run(detail::dropout_draw const& draw, auto x, auto y) {
    using T = scalar_of<decltype(y)>;
    device::for_each((y.size() + 3) / 4,
                     detail::dropout_block<T>{draw, y.size(), x.data(), y.data()});
  }
};

}  // namespace tessera
