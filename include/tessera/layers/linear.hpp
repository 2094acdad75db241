// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/ops/affine_map.hpp>

namespace tessera {

/// What a linear layer may leave out.
struct linear_options {
  bool bias = true;
};

/// y = x·Wᵀ + b, as torch.nn.Linear.
///
/// Shapes  x (..., In) -> y (..., Out); parameters: weight (Out, In), bias (Out)
/// Cost    rows·In·Out multiply-adds forward, twice that backward
/// Errors  an input whose last extent is not In does not compile: tests/fail/linear_wrong_input.cpp
/// Source  torch.nn.Linear; reference values: tests/reference/linear.py
template <std::size_t In, std::size_t Out, linear_options Options = linear_options{}>
struct linear {
  template <class Storage> struct parameters {
    matrix_in<Storage, shape<Out, In>> weight;
    [[no_unique_address]] tensor_if<Options.bias, Storage, shape<Out>, 0> bias;
    TESSERA_PARAMETERS(weight, bias)
  };
  template <class X, class Call> struct scratch {
    [[no_unique_address]] detail::packed_in<Call, detail::affine_map_fn::packed<X, Out>> packed;
  };

  template <class S> using expected_shape = with_last<S, In>;
  template <class S> using output_shape = with_last<S, Out>;
  static constexpr auto about = facts{.backward_reads = reads::input,
                                      .row_wise = true,
                                      .adds_dx = true,
                                      .reads_parameters_first = true,
                                      .scratch = true};

  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    using T = scalar_of<decltype(x)>;
    affine_map.prepare<backend_of<decltype(x)>>(p.weight, m.work.packed);
    affine_map(x, p.weight, data_or_null<T const>(p.bias), y, m.work.packed);
  }
  static constexpr void backward(auto const& p, auto x, auto, auto dy, auto dx, auto& gradient,
                                 auto) {
    using T = scalar_of<decltype(x)>;
    affine_map_input(p.weight, dy, dx.view, dx.adds);
    affine_map_parameters(x, dy, gradient.weight.data(), data_or_null<T>(gradient.bias));
  }
  /// Every parameter from U(-1/sqrt(In), 1/sqrt(In)), weight first.
  static constexpr void initialize(auto& p, auto& generator) {
    generator.uniform(p.weight, generator.kaiming_bound(In));
    if constexpr (Options.bias) generator.uniform(p.bias, generator.reciprocal_root(In));
  }
  template <class S> static constexpr std::size_t multiply_adds = S::capacity * Out;
};

}  // namespace tessera
