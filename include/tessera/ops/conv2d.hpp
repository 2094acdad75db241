// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/policy.hpp>
#include <tessera/tensor/tensor.hpp>

#include <cstddef>

namespace tessera {

/// A height and a width; one number stands for both.
struct size2 {
  std::size_t height;
  std::size_t width;
  constexpr size2(std::size_t both) : height{both}, width{both} {}
  constexpr size2(std::size_t rows, std::size_t columns) : height{rows}, width{columns} {}
  [[nodiscard]] constexpr auto area() const -> std::size_t { return height * width; }
  friend constexpr auto operator==(size2, size2) -> bool = default;
};

namespace detail {

/// A convolution over images (batch, height, width, channels): output pixel (i, j) sees by tap
/// (k, l) the input pixel (i·stride + k·dilation - padding, the same of j).
struct conv2d_geometry {
  std::size_t batch;
  size2 image;   ///< of x
  size2 output;  ///< of y
  std::size_t in;
  std::size_t out;
  size2 kernel;
  size2 stride;
  size2 padding;
  size2 dilation;
  std::size_t groups;

  [[nodiscard]] constexpr auto group_in() const -> std::size_t { return in / groups; }
  [[nodiscard]] constexpr auto group_out() const -> std::size_t { return out / groups; }
  /// The place of a number in the weight (Out, In / groups, height, width).
  [[nodiscard]] constexpr auto weight_at(std::size_t o, std::size_t i, std::size_t tap) const
      -> std::size_t {
    return (o * group_in() + i) * kernel.area() + tap;
  }
};

/// A run of outputs whose inputs by one tap are inside of the image: [first, first + count) see
/// input, input + stride, ...
struct conv_run {
  std::size_t first;
  std::size_t count;
  std::size_t input;
};
[[nodiscard]] constexpr auto run_of_tap(std::size_t tap, std::size_t inputs, std::size_t outputs,
                                        std::size_t stride, std::size_t padding,
                                        std::size_t dilation) -> conv_run {
  auto const shift = tap * dilation;
  auto const first = shift >= padding ? std::size_t{0} : (padding - shift + stride - 1) / stride;
  if (first >= outputs || first * stride + shift - padding >= inputs) return {0, 0, 0};
  auto const input = first * stride + shift - padding;
  auto const room = (inputs - 1 - input) / stride + 1;
  return {first, room < outputs - first ? room : outputs - first, input};
}
[[nodiscard]] constexpr auto rows_of_tap(conv2d_geometry const& g, std::size_t k) -> conv_run {
  return run_of_tap(k, g.image.height, g.output.height, g.stride.height, g.padding.height,
                    g.dilation.height);
}
[[nodiscard]] constexpr auto columns_of_tap(conv2d_geometry const& g, std::size_t k) -> conv_run {
  return run_of_tap(k, g.image.width, g.output.width, g.stride.width, g.padding.width,
                    g.dilation.width);
}

/// kernel<conv2d_fn, Backend> has packed<T, Weights>, memory for as many weights, whose
/// data() is `memory` here; and forward(geometry, x, weight, bias, y, memory), input(geometry,
/// weight, dy, dx, memory) and parameters(geometry, x, dy, dweight, dbias, memory), all by
/// pointers; bias, dweight and dbias may be null.
struct conv2d_fn {
  template <class X, std::size_t Weights>
  using packed = typename kernel<conv2d_fn, backend_of<X>>::template packed<scalar_of<X>, Weights>;
};

}  // namespace detail

}  // namespace tessera

#include <tessera/ops/reference/conv2d.hpp>  // IWYU pragma: keep
