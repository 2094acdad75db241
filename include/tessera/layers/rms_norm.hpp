// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/ops/rms_norm.hpp>

namespace tessera {

/// What is added to the mean of the squares, in units of 1e-12.
struct rms_norm_options {
  std::uint64_t epsilon_1e12 = 1'000'000;
};

/// y = x / sqrt(mean(x²) + epsilon) · weight over the last axis.
///
/// Shapes  x (..., Features) -> y (..., Features); parameters: weight (Features)
/// Cost    two passes over a row forward, two backward; the tape has one number a row
/// Errors  an input whose last extent is not Features: tests/fail/rms_norm_wrong_input.cpp
/// Source  torch.nn.RMSNorm; Zhang and Sennrich, Root mean square layer normalization, 2019;
///         reference values: tests/reference/rms_norm.py
template <std::size_t Features, rms_norm_options Options = rms_norm_options{}> struct rms_norm {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<Features>> weight;
    TESSERA_PARAMETERS(weight)
  };
  template <class X> struct kept {
    resized<X, 1> scale;
  };
  template <class X> struct slopes {
    reshaped<X, shape<Features>> sums;
  };
  template <class S> using expected_shape = with_last<S, Features>;
  template <class S> using output_shape = S;
  static constexpr auto about = facts{.backward_reads = reads::input,
                                      .row_wise = true,
                                      .adds_dx = true,
                                      .reads_parameters_first = true,
                                      .kept = true,
                                      .slopes = true};
  template <class T>
  static constexpr auto epsilon = static_cast<T>(static_cast<double>(Options.epsilon_1e12) * 1e-12);

  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    using T = scalar_of<decltype(x)>;
    kernel_for<detail::rms_norm_fn, backend_of<decltype(x)>>::template forward<T>(
        {x.size() / Features, Features}, x.data(), p.weight.data(), epsilon<T>, y.data(),
        m.kept.scale.data());
  }
  static constexpr void backward(auto const& p, auto x, auto, auto dy, auto dx, auto& gradient,
                                 auto m) {
    using T = scalar_of<decltype(x)>;
    kernel_for<detail::rms_norm_fn, backend_of<decltype(x)>>::template backward<T>(
        {x.size() / Features, Features}, x.data(), p.weight.data(), m.kept.scale.data(), dy.data(),
        {dx.data(), dx.adds, gradient.weight.data()}, m.work.sums.data());
  }
  static constexpr void initialize(auto& p, auto&) { p.weight = scalar_of<decltype(p.weight)>{1}; }
};

}  // namespace tessera
