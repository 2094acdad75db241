// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/config.hpp>

namespace tessera::detail {

/// No function behind a norm: what is normal stays.
struct no_activation {
  template <class V> [[nodiscard]] TESSERA_INLINE static constexpr auto apply(V normal) -> V {
    return normal;
  }
  template <class V>
  [[nodiscard]] TESSERA_INLINE static constexpr auto slope_through(V dy, V) -> V {
    return dy;
  }
};

}  // namespace tessera::detail
