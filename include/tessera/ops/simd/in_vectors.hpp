// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/simd/lanes.hpp>

namespace tessera::detail::inline TESSERA_TARGET {

/// Goes through n numbers a vector at a time: f(lanes, place).
struct in_vectors {
  template <class T> TESSERA_INLINE static void each(std::size_t n, auto const& f) {
    for_each_vector<T>(n, f);
  }
};

}  // namespace tessera::detail::inline TESSERA_TARGET
