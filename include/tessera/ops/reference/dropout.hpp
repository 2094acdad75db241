// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>

namespace tessera {

template <> struct kernel_for<detail::dropout_fn, reference> {
  static constexpr void run(detail::dropout_draw const& draw, auto x, auto y) {
    using T = scalar_of<decltype(y)>;
    auto const scale = static_cast<T>(draw.scale);
    auto const n = y.size();
    for (auto i = std::size_t{0}; i < n; i += 4) {
      auto const words = draw.stream.block(draw.first_block + i / 4);
      for (auto k = std::size_t{0}; k < 4 && i + k < n; ++k)
        y.data()[i + k] = words[k] < draw.threshold ? T{0} : x.data()[i + k] * scale;
    }
  }
};

}  // namespace tessera
