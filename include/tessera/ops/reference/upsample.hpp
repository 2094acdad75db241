// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>

namespace tessera {

/// Slopes add over the pixels of a square, ascending.
template <> struct kernel_for<detail::upsample_fn, reference> {
  template <class T>
  static constexpr void forward(detail::upsample_geometry const& g, T const* x, T* y) {
    for (auto at = std::size_t{0}; at < g.pixels(); ++at) {
      auto const* const from = x + g.source(at);
      for (auto c = std::size_t{0}; c < g.channels; ++c) y[at * g.channels + c] = from[c];
    }
  }
  template <class T>
  static constexpr void backward(detail::upsample_geometry const& g, T const* dy, T* dx) {
    auto const numbers = g.batch * g.height * g.width * g.channels;
    for (auto i = std::size_t{0}; i < numbers; ++i) dx[i] = T{0};
    for (auto at = std::size_t{0}; at < g.pixels(); ++at) {
      auto* const to = dx + g.source(at);
      for (auto c = std::size_t{0}; c < g.channels; ++c) to[c] += dy[at * g.channels + c];
    }
  }
};

}  // namespace tessera
