// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/node/base.hpp>

namespace tessera::detail::inline TESSERA_TARGET {

/// Goes through n numbers one after the other: f(lanes, place). Kernels whose passes are the same
/// for numbers and vectors are written once, for this or for in_vectors.
struct in_numbers {
  template <class T> static constexpr void each(std::size_t n, auto const& f) {
    for (auto i = std::size_t{0}; i < n; ++i) f(one_lane{}, i);
  }
};

}  // namespace tessera::detail::inline TESSERA_TARGET
