// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/layers/activation.hpp>
#include <tessera/layers/linear.hpp>
#include <tessera/tensor/elementwise.hpp>

namespace tessera {

struct gated_perceptron_options {
  bool bias = false;  ///< of all three linear layers
};

/// y = down(silu(gate(x)) · up(x)): SwiGLU, the perceptron of Llama and of what follows it.
///
/// Shapes  x (..., Features) -> y (..., Features); parameters: gate_proj and up_proj, linear layers
///         to Hidden, and down_proj back
/// Cost    3·rows·Features·Hidden multiply-adds and one pass between them; twice that backward and
///         two passes; the tape has 2·Hidden numbers a row
/// Errors  an input whose last extent is not Features:
///         tests/fail/gated_perceptron_wrong_input.cpp
/// Source  Shazeer, GLU variants improve transformer, 2020; reference values:
///         tests/reference/gated_perceptron.py
template <std::size_t Features, std::size_t Hidden,
          gated_perceptron_options Options = gated_perceptron_options{}>
struct gated_perceptron {
  static constexpr auto of_linear = linear_options{.bias = Options.bias};
  using to_hidden = linear<Features, Hidden, of_linear>;
  using from_hidden = linear<Hidden, Features, of_linear>;

  template <class Storage> struct parameters {
    parameters_of<to_hidden, Storage> gate_proj;
    parameters_of<to_hidden, Storage> up_proj;
    parameters_of<from_hidden, Storage> down_proj;
    TESSERA_PARAMETERS(gate_proj, up_proj, down_proj)
  };
  template <class X> struct kept {
    resized<X, Hidden> gate;
    resized<X, Hidden> up;
  };
  template <class X, class Call> struct scratch {
    template <class In, std::size_t Out>
    using weights = detail::packed_in<Call, detail::affine_map_fn::packed<In, Out>>;
    [[no_unique_address]] detail::member_if<Call::training, resized<X, Hidden>, 0> product;
    [[no_unique_address]] detail::member_if<true, weights<X, Hidden>, 1> in;
    [[no_unique_address]] detail::member_if<true, weights<resized<X, Hidden>, Features>, 2> out;
  };
  template <class X> struct slopes {
    resized<X, Hidden> gate;
    resized<X, Hidden> up;
  };
  template <class S> using expected_shape = with_last<S, Features>;
  template <class S> using output_shape = S;
  static constexpr auto about = facts{.backward_reads = reads::input,
                                      .row_wise = true,
                                      .adds_dx = true,
                                      .reads_parameters_first = true,
                                      .kept = true,
                                      .scratch = true,
                                      .slopes = true};

  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    auto const gate = m.kept.gate.sized_like(x);
    auto const up = m.kept.up.sized_like(x);
    map(p.gate_proj, x, gate, m.work.in);
    map(p.up_proj, x, up, m.work.in);
    auto const product = [&] {
      if constexpr (decltype(m)::training)
        return m.work.product.sized_like(x);
      else
        return gate;
    }();
    assign(product, silu(gate) * up);
    map(p.down_proj, as_const(product), y, m.work.out);
  }
  static constexpr void backward(auto const& p, auto x, auto, auto dy, auto dx, auto& gradient,
                                 auto m) {
    using silu_slope = detail::slope_of<op::silu, false>;
    auto const gate = m.kept.gate.sized_like(x);
    auto const up = m.kept.up.sized_like(x);
    auto const d_gate = m.work.gate.sized_like(x);
    auto const d_up = m.work.up.sized_like(x);
    auto const d_product = d_up;
    auto const product = d_gate;
    affine_map_input(p.down_proj.weight, dy, d_product);
    assign(product, silu(gate) * up);
    add_slopes(gradient.down_proj, as_const(product), dy);
    assign(d_gate, detail::binary<silu_slope>(d_product * up, gate));
    assign(d_up, d_product * silu(gate));
    affine_map_input(p.gate_proj.weight, as_const(d_gate), dx.view, dx.adds);
    affine_map_input(p.up_proj.weight, as_const(d_up), dx.view, true);
    add_slopes(gradient.gate_proj, x, as_const(d_gate));
    add_slopes(gradient.up_proj, x, as_const(d_up));
  }
  /// As the three linear layers, in this order.
  static constexpr void initialize(auto& p, auto& generator) {
    to_hidden::initialize(p.gate_proj, generator);
    to_hidden::initialize(p.up_proj, generator);
    from_hidden::initialize(p.down_proj, generator);
  }
  template <class S> static constexpr std::size_t multiply_adds = S::capacity * 3 * Hidden;

 private:
  static constexpr void map(auto const& p, auto x, auto y, auto& packed) {
    using T = scalar_of<decltype(x)>;
    affine_map.template prepare<backend_of<decltype(x)>>(p.weight, packed);
    affine_map(as_const(x), p.weight, data_or_null<T const>(p.bias), y, packed);
  }
  static constexpr void add_slopes(auto& gradient, auto x, auto dy) {
    affine_map_parameters(x, dy, gradient.weight.data(),
                          data_or_null<scalar_of<decltype(x)>>(gradient.bias));
  }
};

}  // namespace tessera
