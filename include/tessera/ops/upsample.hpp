// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/policy.hpp>
#include <tessera/tensor/tensor.hpp>

#include <cstddef>

namespace tessera::detail {

/// Images (batch, height, width, channels) whose pixels become squares of factor·factor.
struct upsample_geometry {
  std::size_t batch;
  std::size_t height;
  std::size_t width;
  std::size_t channels;
  std::size_t factor;

  /// The first number of the pixel of x that pixel `at` of y shows, counted over all images.
  [[nodiscard]] constexpr auto source(std::size_t at) const -> std::size_t {
    auto const column = at % (width * factor) / factor;
    auto const row = at / (width * factor) / factor;  // images lie below each other
    return (row * width + column) * channels;
  }
  [[nodiscard]] constexpr auto pixels() const -> std::size_t {
    return batch * height * width * factor * factor;
  }
};

/// kernel<upsample_fn, Backend> has forward(geometry, x, y) and backward(geometry, dy, dx), by
/// pointers.
struct upsample_fn {};

}  // namespace tessera::detail

#include <tessera/ops/reference/upsample.hpp>  // IWYU pragma: keep
