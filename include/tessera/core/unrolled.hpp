// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/config.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace tessera {

/// Calls f(0), f(1), ... f(N - 1) with constants: a loop without a loop.
template <std::size_t N, class F> TESSERA_INLINE constexpr void unrolled(F&& f) {
  [&]<std::size_t... I>(std::index_sequence<I...>) TESSERA_INLINE {
    (f(std::integral_constant<std::size_t, I>{}), ...);
  }(std::make_index_sequence<N>{});
}

}  // namespace tessera
