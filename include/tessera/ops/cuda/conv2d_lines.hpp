// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/cuda/device.hpp>
#include <tessera/ops/conv2d.hpp>

/// Without groups a convolution is a product: pixels by what they see. These are the lines of its
/// operands, as product_tiles read them.
namespace tessera::detail {

/// The output that sees the padded place by a tap at that distance; `outputs` where none does.
[[nodiscard]] TESSERA_DEVICE inline auto seen_by(std::size_t place, std::size_t distance,
                                                 std::size_t stride, std::size_t outputs)
    -> std::size_t {
  if (place < distance) return outputs;
  auto const from = place - distance;
  if (stride > 1 && from % stride != 0) return outputs;
  auto const i = stride > 1 ? from / stride : from;
  return i < outputs ? i : outputs;
}

/// The indices of a number along two extents and of what they leave, the last the fastest.
struct three_indices {
  std::size_t outer;
  std::size_t middle;
  std::size_t inner;

  [[nodiscard]] TESSERA_DEVICE static auto of(std::size_t n, std::size_t middle, std::size_t inner)
      -> three_indices {
    return {n / inner / middle, n / inner % middle, n % inner};
  }
  /// Those of a number that is larger by `distance`; divides where an extent ends.
  TESSERA_DEVICE void go_on(std::size_t distance, std::size_t middles, std::size_t inners) {
    inner += distance;
    if (inner < inners) return;
    middle += inner / inners;
    inner %= inners;
    if (middle < middles) return;
    outer += middle / middles;
    middle %= middles;
  }
};

/// Depth (tap, channel): what an output pixel sees of x, zero outside of the image.
template <class T> struct conv2d_seen {
  conv2d_geometry g;
  T const* x;
  /// The first tap: row and column in the padded image, and the place in x, before it where the tap
  /// sees nothing.
  struct cursor {
    std::size_t row;
    std::size_t column;
    std::size_t place;
  };
  /// A tap's row and column, and a channel; how far that is from the first.
  struct step {
    three_indices of;
    std::size_t distance;
  };

  [[nodiscard]] TESSERA_DEVICE static constexpr auto is_along_depth() -> bool { return true; }
  [[nodiscard]] TESSERA_DEVICE auto at(std::size_t pixel) const -> cursor {
    return at(three_indices::of(pixel, g.output.height, g.output.width));
  }
  [[nodiscard]] TESSERA_DEVICE auto at(three_indices const& pixel) const -> cursor {
    auto const row = pixel.middle * g.stride.height;
    auto const column = pixel.inner * g.stride.width;
    auto const line = pixel.outer * g.image.height + row - g.padding.height;
    return {row, column, (line * g.image.width + column - g.padding.width) * g.in};
  }
  [[nodiscard]] TESSERA_DEVICE auto from(std::size_t k) const -> step {
    return at_tap(three_indices::of(k, g.kernel.width, g.in));
  }
  TESSERA_DEVICE void go_on(step& k, std::size_t distance) const {
    k.of.go_on(distance, g.kernel.width, g.in);
    k = at_tap(k.of);
  }
  [[nodiscard]] TESSERA_DEVICE auto value(cursor const& c, step const& k) const -> T {
    // What is before the image is above every extent.
    auto const i = c.row + k.of.outer * g.dilation.height - g.padding.height;
    auto const j = c.column + k.of.middle * g.dilation.width - g.padding.width;
    if (i >= g.image.height || j >= g.image.width) return T{0};
    return x[c.place + k.distance];
  }

 private:
  [[nodiscard]] TESSERA_DEVICE auto at_tap(three_indices const& k) const -> step {
    auto const pixels = k.outer * g.dilation.height * g.image.width + k.middle * g.dilation.width;
    return {k, pixels * g.in + k.inner};
  }
};
/// Depth (tap, channel of the other side): the weights of one channel. Of an output channel all
/// that it reads, or of an input channel all that reads it.
template <class T, class Stored> struct conv2d_weights {
  weight_matrix<T, Stored> weight;
  std::size_t taps;
  std::size_t inner;  ///< channels of the depth
  bool of_inputs;     ///< the lines are input channels, and outputs lie along the depth
  /// What line and step give to the row and the column of the weight.
  struct cursor {
    std::size_t row;
    std::size_t column;
  };
  struct step {
    three_indices of;  ///< nothing, tap, channel
    cursor distance;
  };

  [[nodiscard]] TESSERA_DEVICE static constexpr auto is_along_depth() -> bool { return true; }
  [[nodiscard]] TESSERA_DEVICE auto at(std::size_t channel) const -> cursor {
    return {of_inputs ? 0 : channel, of_inputs ? channel * taps : 0};
  }
  [[nodiscard]] TESSERA_DEVICE auto from(std::size_t k) const -> step {
    return at_tap(three_indices::of(k, taps, inner));
  }
  TESSERA_DEVICE void go_on(step& k, std::size_t distance) const {
    k.of.go_on(distance, taps, inner);
    k = at_tap(k.of);
  }
  [[nodiscard]] TESSERA_DEVICE auto value(cursor const& c, step const& k) const -> T {
    return weight.at(c.row + k.distance.row, c.column + k.distance.column);
  }

 private:
  [[nodiscard]] TESSERA_DEVICE auto at_tap(three_indices const& k) const -> step {
    // A choice between two cursors crashes nvcc 13's optimizer.
    return {k, {of_inputs ? k.inner : 0, of_inputs ? k.middle : k.inner * taps + k.middle}};
  }
};
/// Depth (tap, output channel): the slopes of the outputs that see an input pixel by each tap.
template <class T> struct conv2d_seers {
  conv2d_geometry g;
  T const* dy;
  struct cursor {
    T const* image;
    std::size_t row;  ///< in the padded image
    std::size_t column;
  };
  using step = three_indices;  ///< row and column of a tap, channel

  [[nodiscard]] TESSERA_DEVICE static constexpr auto is_along_depth() -> bool { return true; }
  [[nodiscard]] TESSERA_DEVICE auto at(std::size_t pixel) const -> cursor {
    auto const i = three_indices::of(pixel, g.image.height, g.image.width);
    return {dy + i.outer * g.output.area() * g.out, i.middle + g.padding.height,
            i.inner + g.padding.width};
  }
  [[nodiscard]] TESSERA_DEVICE auto from(std::size_t k) const -> step {
    return three_indices::of(k, g.kernel.width, g.out);
  }
  TESSERA_DEVICE void go_on(step& k, std::size_t distance) const {
    k.go_on(distance, g.kernel.width, g.out);
  }
  [[nodiscard]] TESSERA_DEVICE auto value(cursor const& c, step const& k) const -> T {
    auto const i = seen_by(c.row, k.outer * g.dilation.height, g.stride.height, g.output.height);
    auto const j = seen_by(c.column, k.middle * g.dilation.width, g.stride.width, g.output.width);
    if (i == g.output.height || j == g.output.width) return T{0};
    return c.image[(i * g.output.width + j) * g.out + k.inner];
  }
};
/// Depth (output pixel): what it sees by one tap of one channel; lines in the order (tap, channel).
template <class T> struct conv2d_seen_by_tap {
  conv2d_seen<T> pixels;
  using cursor = typename conv2d_seen<T>::step;
  using step = three_indices;  ///< image, row, column

  [[nodiscard]] TESSERA_DEVICE static constexpr auto is_along_depth() -> bool { return false; }
  [[nodiscard]] TESSERA_DEVICE auto at(std::size_t line) const -> cursor {
    return pixels.from(line);
  }
  [[nodiscard]] TESSERA_DEVICE auto from(std::size_t pixel) const -> step {
    return three_indices::of(pixel, pixels.g.output.height, pixels.g.output.width);
  }
  TESSERA_DEVICE void go_on(step& pixel, std::size_t distance) const {
    pixel.go_on(distance, pixels.g.output.height, pixels.g.output.width);
  }
  [[nodiscard]] TESSERA_DEVICE auto value(cursor const& c, step const& pixel) const -> T {
    return pixels.value(pixels.at(pixel), c);
  }
};

}  // namespace tessera::detail
