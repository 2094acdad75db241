// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/layers/max_pool2d.hpp>
#include <tessera/ops/avg_pool2d.hpp>

namespace tessera {

/// What torch.nn.AvgPool2d leaves to choose; a stride of 0 is that of the window.
struct avg_pool2d_options {
  size2 stride = 0;
  size2 padding = 0;
  bool counts_padding = true;  ///< as zeros; else a mean is of the numbers that are there
};

/// The mean of every window, by channel.
///
/// Shapes  those of max_pool2d
/// Cost    images·height'·width'·channels·window additions forward, as many backward; nothing is
///         kept
/// Errors  an input that is smaller than the window: tests/fail/avg_pool2d_wrong_input.cpp
/// Source  torch.nn.AvgPool2d, whose inputs are (batch, channels, height, width); reference values:
///         tests/reference/avg_pool2d.py
template <size2 Window, avg_pool2d_options Options = avg_pool2d_options{}>
struct avg_pool2d : without_parameters {
  using windows = max_pool2d<Window, max_pool2d_options{Options.stride, Options.padding}>;
  template <class S> using expected_shape = typename windows::template expected_shape<S>;
  template <class S> using output_shape = typename windows::template output_shape<S>;
  static constexpr auto about = facts{};

  static constexpr void forward(auto const&, auto x, auto y, auto) {
    kernel_for<detail::avg_pool2d_fn, backend_of<decltype(x)>>::forward(geometry(x, y), x.data(),
                                                                        y.data());
  }
  static constexpr void backward(auto const&, auto x, auto y, auto dy, auto dx, auto&, auto) {
    if (dx.has_memory())
      kernel_for<detail::avg_pool2d_fn, backend_of<decltype(x)>>::backward(geometry(x, y),
                                                                           dy.data(), dx.data());
  }

 private:
  [[nodiscard]] static constexpr auto geometry(auto x, auto y) -> detail::avg_pool2d_geometry {
    return {windows::geometry(x, y), Options.counts_padding};
  }
};

static_assert(accepts<avg_pool2d<2>, shape<1, 4, 4, 3>>);

}  // namespace tessera
