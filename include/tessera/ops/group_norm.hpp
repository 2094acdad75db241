// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/policy.hpp>
#include <tessera/tensor/tensor.hpp>

#include <cstddef>

namespace tessera::detail {

/// Images (batch, pixels, channels) whose channels are normalized in groups: mean and scale have a
/// number for each image and group.
struct group_norm_geometry {
  std::size_t batch;
  std::size_t pixels;
  std::size_t channels;
  std::size_t groups;

  [[nodiscard]] constexpr auto group_size() const -> std::size_t { return channels / groups; }
};
template <class T> struct group_norm_slopes {
  T* dx;       ///< or null
  T* dweight;  ///< or null, and so dbias
  T* dbias;
};

/// kernel<group_norm_fn, Backend> has forward(geometry, x, weight, bias, epsilon, y, mean, scale,
/// sums) and backward(geometry, x, weight, mean, scale, dy, slopes, sums), by pointers; weight and
/// bias may be null; sums is memory for twice the channels.
struct group_norm_fn {};

}  // namespace tessera::detail

#include <tessera/ops/reference/group_norm.hpp>  // IWYU pragma: keep
