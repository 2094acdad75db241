// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/policy.hpp>
#include <tessera/tensor/tensor.hpp>

#include <cstddef>

namespace tessera::detail {

/// A convolution over time: output t sees inputs t·stride + k·dilation - before, k < kernel.
struct conv1d_geometry {
  std::size_t time;      ///< of x
  std::size_t out_time;  ///< of y
  std::size_t rows;      ///< lanes of the batch, between time and features
  std::size_t in;
  std::size_t out;
  std::size_t kernel;
  std::size_t stride;
  std::size_t dilation;
  std::size_t before;  ///< inputs before the first: of `past`, or zeros
  std::size_t groups;

  [[nodiscard]] constexpr auto group_in() const -> std::size_t { return in / groups; }
  [[nodiscard]] constexpr auto group_out() const -> std::size_t { return out / groups; }
  /// Where output t looks for tap k, counted from the first of the inputs before.
  [[nodiscard]] constexpr auto at(std::size_t t, std::size_t k) const -> std::size_t {
    return t * stride + k * dilation;
  }
  /// The row of features that output t sees by tap k; null where there are only zeros.
  template <class T>
  [[nodiscard]] constexpr auto seen(T const* x, T const* past, std::size_t t, std::size_t k) const
      -> T const* {
    auto const i = at(t, k);
    if (i < before) return past == nullptr ? nullptr : past + i * rows * in;
    return i - before < time ? x + (i - before) * rows * in : nullptr;
  }
};

/// kernel<conv1d_fn, Backend> has packed<T, Weights>, memory for as many weights; and
/// forward(geometry, x, past, weight, bias, y, packed), input(geometry, weight, dy, dx, packed) and
/// parameters(geometry, x, past, dy, dweight, dbias, packed), all by pointers, or null.
struct conv1d_fn {
  template <class X, std::size_t Weights>
  using packed = typename kernel<conv1d_fn, backend_of<X>>::template packed<scalar_of<X>, Weights>;
};

}  // namespace tessera::detail

#include <tessera/ops/reference/conv1d.hpp>  // IWYU pragma: keep
