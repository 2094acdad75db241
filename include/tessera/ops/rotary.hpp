// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/policy.hpp>
#include <tessera/core/elementary.hpp>
#include <tessera/tensor/tensor.hpp>

#include <cstddef>

namespace tessera::detail {

/// Vectors of Width numbers, `vectors` of them next to each other for each time and lane.
struct rotary_geometry {
  std::size_t times;
  std::size_t lanes;
  std::size_t vectors;
  std::size_t time_distance;  ///< of two times of a lane, in numbers
  std::size_t lane_distance;  ///< of two lanes of a time
  std::size_t first;          ///< the position of the first time
};

/// kernel<rotary_fn, Backend>::run<Width>(geometry, frequency, x, back): turns the pairs (i, i +
/// Width / 2) of every vector by position·frequency[i], or back, in place.
struct rotary_fn {};

}  // namespace tessera::detail

#include <tessera/ops/reference/rotary.hpp>  // IWYU pragma: keep
