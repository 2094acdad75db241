// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/ops/conv2d.hpp>

namespace tessera {

/// What torch.nn.Conv2d leaves to choose.
struct conv2d_options {
  size2 stride = 1;
  size2 padding = 0;
  size2 dilation = 1;
  std::size_t groups = 1;
  bool bias = true;
};

/// A convolution over images, channels last.
///
/// Shapes  x (..., height, width, In) -> y (..., height', width', Out), height' = (height +
///         2·padding - dilation·(kernel - 1) - 1) / stride + 1, and so the width; parameters:
///         weight (Out, In / groups, kernel height, kernel width), bias (Out)
/// Cost    images·height'·width'·Out·In / groups·kernel multiply-adds forward, twice that backward
/// Errors  an input whose last extent is not In, or too small: tests/fail/conv2d_wrong_input.cpp
/// Source  torch.nn.Conv2d, whose inputs are (batch, In, height, width); reference values:
///         tests/reference/conv2d.py
template <std::size_t In, std::size_t Out, size2 Kernel, conv2d_options Options = conv2d_options{}>
struct conv2d {
  static_assert(Kernel.area() > 0 && Options.stride.area() > 0 && Options.dilation.area() > 0);
  static_assert(In % Options.groups == 0 && Out % Options.groups == 0,
                "conv2d: groups must divide the inputs and the outputs");

  template <class Storage> struct parameters {
    matrix_in<Storage, shape<Out, In / Options.groups, Kernel.height, Kernel.width>> weight;
    [[no_unique_address]] tensor_if<Options.bias, Storage, shape<Out>, 0> bias;
    TESSERA_PARAMETERS(weight, bias)
  };
  template <class X> struct packed_weights {
    [[no_unique_address]] detail::conv2d_fn::packed<X, Out*(In / Options.groups) * Kernel.area()>
        packed;
  };
  template <class X> using scratch = packed_weights<X>;
  template <class X> using slopes = packed_weights<X>;
  static constexpr auto about = facts{.backward_reads = reads::input,
                                      .reads_parameters_first = true,
                                      .scratch = true,
                                      .slopes = true};

  /// Rows or columns that come out of so many.
  [[nodiscard]] static constexpr auto extent_of_output(std::size_t in, std::size_t kernel,
                                                       std::size_t stride, std::size_t padding,
                                                       std::size_t dilation) -> extent {
    auto const reach = dilation * (kernel - 1) + 1;
    return static_cast<extent>((in + 2 * padding - reach) / stride + 1);
  }
  /// The least input that the window fits in; of a bounded one, which has no size, its bound.
  [[nodiscard]] static constexpr auto needed(extent in, std::size_t kernel, std::size_t padding,
                                             std::size_t dilation) -> extent {
    auto const least =
        static_cast<extent>(dilation * (kernel - 1) + 1) - static_cast<extent>(2 * padding);
    auto const size = static_cast<extent>(bound_of(in));
    return size >= least ? size : least;
  }
  template <class S, class R = with_rank_at_least<S, 3>>
  using expected_shape =
      with_last<with_extent<with_extent<R, R::rank - 3,
                                        needed(R::extents[R::rank - 3], Kernel.height,
                                               Options.padding.height, Options.dilation.height)>,
                            R::rank - 2,
                            needed(R::extents[R::rank - 2], Kernel.width, Options.padding.width,
                                   Options.dilation.width)>,
                In>;
  template <class S>
  using output_shape =
      with_last<with_extent<with_extent<S, S::rank - 3,
                                        extent_of_output(
                                            bound_at<S, -3>, Kernel.height, Options.stride.height,
                                            Options.padding.height, Options.dilation.height)>,
                            S::rank - 2,
                            extent_of_output(bound_at<S, -2>, Kernel.width, Options.stride.width,
                                             Options.padding.width, Options.dilation.width)>,
                Out>;

  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    using T = scalar_of<decltype(x)>;
    kernel_for<detail::conv2d_fn, backend_of<decltype(x)>>::forward(
        geometry(x, y), x.data(), weights_of<T>(p.weight), data_or_null<T const>(p.bias), y.data(),
        m.work.packed.data());
  }
  static constexpr void backward(auto const& p, auto x, auto, auto dy, auto dx, auto& gradient,
                                 auto m) {
    using T = scalar_of<decltype(x)>;
    using run = kernel_for<detail::conv2d_fn, backend_of<decltype(x)>>;
    auto const g = geometry(dx.view, dy);
    if (dx.has_memory())
      run::input(g, weights_of<T>(p.weight), dy.data(), dx.data(), m.work.packed.data());
    run::parameters(g, x.data(), dy.data(), gradient.weight.data(), data_or_null<T>(gradient.bias),
                    m.work.packed.data());
  }
  /// Weight and bias from U(-1/sqrt(fan), 1/sqrt(fan)), fan = In / groups·kernel.
  static constexpr void initialize(auto& p, auto& generator) {
    constexpr auto fan = In / Options.groups * Kernel.area();
    generator.uniform(p.weight, generator.kaiming_bound(fan));
    if constexpr (Options.bias) generator.uniform(p.bias, generator.reciprocal_root(fan));
  }
  template <class S>
  static constexpr std::size_t multiply_adds =
      output_shape<S>::capacity * In / Options.groups * Kernel.area();

 private:
  [[nodiscard]] static constexpr auto geometry(auto x, auto y) -> detail::conv2d_geometry {
    using S = shape_of<decltype(x)>;
    using R = shape_of<decltype(y)>;
    constexpr auto image = size2(bound_at<S, -3>, bound_at<S, -2>);
    return {x.size() / (image.area() * In),
            image,
            size2(bound_at<R, -3>, bound_at<R, -2>),
            In,
            Out,
            Kernel,
            Options.stride,
            Options.padding,
            Options.dilation,
            Options.groups};
  }
};

}  // namespace tessera
