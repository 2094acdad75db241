// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/ops/group_norm.hpp>

namespace tessera {

/// What torch.nn.GroupNorm leaves to choose; epsilon in units of 1e-12.
struct group_norm_options {
  std::uint64_t epsilon_1e12 = 10'000'000;
  bool affine = true;
};

/// y = (x - mean) / sqrt(variance + epsilon) · weight + bias, where mean and variance are those of
/// one image and one group of its channels.
///
/// Shapes  x (batch, ..., Channels) -> the same; parameters: weight and bias (Channels)
/// Cost    three passes forward, two backward; the tape has two numbers for each image and group.
///         An activation behind it in a `sequential` is applied by the last pass, and its slope
///         computed once, in the memory of dx: nothing between the two is stored
/// Errors  an input whose last extent is not Channels: tests/fail/group_norm_wrong_input.cpp
/// Source  torch.nn.GroupNorm; reference values: tests/reference/group_norm.py
template <std::size_t Groups, std::size_t Channels,
          group_norm_options Options = group_norm_options{}>
struct group_norm {
  static_assert(Groups > 0 && Channels % Groups == 0,
                "group_norm: groups must divide the channels");

  template <class Storage> struct parameters {
    [[no_unique_address]] tensor_if<Options.affine, Storage, shape<Channels>, 0> weight;
    [[no_unique_address]] tensor_if<Options.affine, Storage, shape<Channels>, 1> bias;
    TESSERA_PARAMETERS(weight, bias)
  };
  template <class X> struct kept {
    using numbers = reshaped<X, shape<static_cast<extent>(first_of<shape_of<X>>), Groups>>;
    numbers mean;
    numbers scale;
  };
  template <class X, std::size_t Times> struct channel_sums {
    reshaped<X, shape<Times * Channels>> sums;
  };
  template <class X> using scratch = channel_sums<X, 2>;
  template <class X> using slopes = channel_sums<X, 4>;
  template <class S> using expected_shape = with_last<with_rank_at_least<S, 2>, Channels>;
  template <class S> using output_shape = S;
  static constexpr auto about =
      facts{.backward_reads = reads::input, .kept = true, .scratch = true, .slopes = true};

  /// Itself, where this backend's own kernel applies the activation behind the norm, too.
  template <class Backend>
    requires std::same_as<typename kernel_for<detail::group_norm_fn, Backend>::takes_activation,
                          kernel_for<detail::group_norm_fn, Backend>>
  using takes_activation = group_norm;

  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    forward_with<>(p, x, y, m);
  }
  /// With an activation, or none.
  template <class... Activation>
  static constexpr void forward_with(auto const& p, auto x, auto y, auto m) {
    using T = scalar_of<decltype(x)>;
    constexpr auto epsilon = static_cast<T>(static_cast<double>(Options.epsilon_1e12) * 1e-12);
    kernel<decltype(x)>::template forward<T, Activation...>(
        geometry(x), x.data(), data_or_null<T const>(p.weight), data_or_null<T const>(p.bias),
        epsilon, y.data(), m.kept.mean.data(), m.kept.scale.data(), m.work.sums.data());
  }
  static constexpr void backward(auto const& p, auto x, auto, auto dy, auto dx, auto& gradient,
                                 auto m) {
    backward_with<>(p, x, dy, dx, gradient, m);
  }
  /// With an activation, dy is the slope of what that gave.
  template <class... Activation>
  static constexpr void backward_with(auto const& p, auto x, auto dy, auto dx, auto& gradient,
                                      auto m) {
    using T = scalar_of<decltype(x)>;
    kernel<decltype(x)>::template backward<T, Activation...>(
        geometry(x), x.data(), data_or_null<T const>(p.weight), data_or_null<T const>(p.bias),
        m.kept.mean.data(), m.kept.scale.data(), dy.data(),
        {dx.data(), data_or_null<T>(gradient.weight), data_or_null<T>(gradient.bias)},
        m.work.sums.data());
  }
  static constexpr void initialize(auto& p, auto&) {
    if constexpr (Options.affine) {
      p.weight = scalar_of<decltype(p.weight)>{1};
      p.bias = scalar_of<decltype(p.bias)>{0};
    }
  }

 private:
  template <class X> using kernel = kernel_for<detail::group_norm_fn, backend_of<X>>;

  [[nodiscard]] static constexpr auto geometry(auto x) -> detail::group_norm_geometry {
    auto const batch = x.template extent_of<0>();
    return {batch, batch == 0 ? 0 : x.size() / (batch * Channels), Channels, Groups};
  }
};

}  // namespace tessera
