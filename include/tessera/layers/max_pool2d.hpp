// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/ops/max_pool2d.hpp>

namespace tessera {

/// What torch.nn.MaxPool2d leaves to choose; a stride of 0 is that of the window.
struct max_pool2d_options {
  size2 stride = 0;
  size2 padding = 0;
};

/// The largest number of every window, by channel.
///
/// Shapes  x (..., height, width, channels) -> y (..., height', width', channels), height' =
///         (height + 2·padding - window) / stride + 1, and so the width
/// Cost    images·height'·width'·channels·window comparisons forward, as many backward; nothing is
///         kept but x and y
/// Errors  an input that is smaller than the window: tests/fail/max_pool2d_wrong_input.cpp
/// Source  torch.nn.MaxPool2d, whose inputs are (batch, channels, height, width): of equal numbers
///         the first has the slope; reference values: tests/reference/max_pool2d.py
template <size2 Window, max_pool2d_options Options = max_pool2d_options{}>
struct max_pool2d : without_parameters {
  static constexpr auto stride = Options.stride == size2{0} ? Window : Options.stride;
  static constexpr auto padding = Options.padding;
  static_assert(Window.area() > 0 && stride.area() > 0);
  static_assert(2 * padding.height <= Window.height && 2 * padding.width <= Window.width,
                "max_pool2d: a padding is at most half of the window");
  static constexpr auto about = facts{.backward_reads = reads::both};

  /// The least input that a window fits in.
  [[nodiscard]] static constexpr auto needed(extent in, std::size_t window, std::size_t around)
      -> extent {
    auto const least = static_cast<extent>(window - 2 * around);
    return in >= least ? in : least > 0 ? least : 1;
  }
  /// Rows or columns that come out of so many.
  [[nodiscard]] static constexpr auto extent_of_output(std::size_t in, std::size_t window,
                                                       std::size_t by, std::size_t around)
      -> extent {
    return static_cast<extent>((in + 2 * around - window) / by + 1);
  }
  template <class S, class R = with_rank_at_least<S, 3>>
  using expected_shape = with_extent<
      with_extent<R, R::rank - 3, needed(R::extents[R::rank - 3], Window.height, padding.height)>,
      R::rank - 2, needed(R::extents[R::rank - 2], Window.width, padding.width)>;
  template <class S>
  using output_shape = with_extent<
      with_extent<S, S::rank - 3,
                  extent_of_output(bound_at<S, -3>, Window.height, stride.height, padding.height)>,
      S::rank - 2, extent_of_output(bound_at<S, -2>, Window.width, stride.width, padding.width)>;

  static constexpr void forward(auto const&, auto x, auto y, auto) {
    kernel_for<detail::max_pool2d_fn, backend_of<decltype(x)>>::forward(geometry(x, y), x.data(),
                                                                        y.data());
  }
  static constexpr void backward(auto const&, auto x, auto y, auto dy, auto dx, auto&, auto) {
    if (dx.has_memory())
      kernel_for<detail::max_pool2d_fn, backend_of<decltype(x)>>::backward(
          geometry(x, y), x.data(), y.data(), dy.data(), dx.data());
  }

  /// The windows of an input of x's extents.
  [[nodiscard]] static constexpr auto geometry(auto x, auto y) -> detail::max_pool2d_geometry {
    using S = shape_of<decltype(x)>;
    using R = shape_of<decltype(y)>;
    constexpr auto image = size2(bound_at<S, -3>, bound_at<S, -2>);
    return {x.size() / (image.area() * last_of<S>),
            image,
            size2(bound_at<R, -3>, bound_at<R, -2>),
            last_of<S>,
            Window,
            stride,
            padding};
  }
};

static_assert(accepts<max_pool2d<2>, shape<1, 4, 4, 3>>);

}  // namespace tessera
