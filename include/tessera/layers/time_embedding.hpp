// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/compose/named.hpp>
#include <tessera/compose/sequential.hpp>
#include <tessera/layers/activation.hpp>
#include <tessera/layers/linear.hpp>
#include <tessera/ops/sinusoidal.hpp>

#include <array>
#include <numbers>

namespace tessera {

/// A number as cosines and sines of Width / 2 frequencies, from 1 down to 1 / 10'000 (exclusive).
///
/// Shapes  x (...) -> y (..., Width), cosines first
/// Source  Vaswani et al., Attention is all you need, 2017; order and frequencies as in diffusers'
///         get_timestep_embedding(flip_sin_to_cos=True, downscale_freq_shift=0); reference values:
///         tests/reference/time_embedding.py
template <std::size_t Width> struct sinusoidal : without_parameters {
  static_assert(Width > 0 && Width % 2 == 0, "sinusoidal: an even width");
  template <class S> using output_shape = with_axis<S, S::rank, static_cast<extent>(Width)>;
  template <class S> using expected_shape = S;
  static constexpr auto about = facts{.backward_reads = reads::input, .row_wise = true};

  template <class T>
  static constexpr auto frequencies = [] {
    constexpr auto half = Width / 2;
    auto f = std::array<T, half>{};
    for (auto k = std::size_t{0}; k < half; ++k)
      f[k] = static_cast<T>(
          lane::exp(-4 * std::numbers::ln10 * static_cast<double>(k) / static_cast<double>(half)));
    return f;
  }();

  static constexpr void forward(auto const&, auto x, auto y, auto) {
    using T = scalar_of<decltype(x)>;
    kernel_for<detail::sinusoidal_fn, backend_of<decltype(x)>>::forward(
        x.size(), x.data(), Width / 2, frequencies<T>.data(), y.data());
  }
  static constexpr void backward(auto const&, auto x, auto, auto dy, auto dx, auto&, auto) {
    using T = scalar_of<decltype(x)>;
    if (dx.has_memory())
      kernel_for<detail::sinusoidal_fn, backend_of<decltype(x)>>::backward(
          x.size(), x.data(), Width / 2, frequencies<T>.data(), dy.data(), dx.data());
  }
};

/// What a diffusion model knows of the time step: sinusoidal, linear, silu, linear.
///
/// Shapes  x (...), steps of the diffusion -> y (..., Out); parameters by diffusers' names:
///         linear_1 (Width -> Out), linear_2 (Out -> Out)
/// Source  diffusers.models.embeddings.TimestepEmbedding
template <std::size_t Width, std::size_t Out>
using time_embedding = sequential<sinusoidal<Width>, named<"linear_1", linear<Width, Out>>,
                                  silu_layer, named<"linear_2", linear<Out, Out>>>;

}  // namespace tessera
