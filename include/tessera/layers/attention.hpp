// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/ops/affine_map.hpp>
#include <tessera/ops/attention.hpp>

namespace tessera {

/// What torch.nn.MultiheadAttention leaves to choose.
struct attention_options {
  std::size_t heads = 1;
  bool causal = false;  ///< a sample sees itself and the ones before
  bool bias = true;
};

/// Self-attention over time, the first axis: every sample looks at all others.
///
/// Shapes  x (time, batch, Features) -> the same; parameters, by torch's names: in_proj_weight
///         (3·Features, Features), queries, keys and values in this order, in_proj_bias,
///         out_proj.weight (Features, Features), out_proj.bias
/// Cost    time·batch·Features·(4·Features + 2·time) multiply-adds, the second part halved where
///         causal; the tape has no matrix of scores
/// Errors  an input that is not (time, batch, Features): tests/fail/attention_wrong_input.cpp
/// Source  torch.nn.MultiheadAttention(x, x, x); reference values: tests/reference/attention.py
template <std::size_t Features, attention_options Options = attention_options{}>
struct attention_layer {
  static_assert(Features % Options.heads == 0, "attention: heads must divide the features");
  static constexpr auto width = Features / Options.heads;

  template <class Storage> struct projection {
    matrix_in<Storage, shape<Features, Features>> weight;
    [[no_unique_address]] tensor_if<Options.bias, Storage, shape<Features>, 0> bias;
    TESSERA_PARAMETERS(weight, bias)
  };
  template <class Storage> struct parameters {
    matrix_in<Storage, shape<3 * Features, Features>> in_proj_weight;
    [[no_unique_address]] tensor_if<Options.bias, Storage, shape<3 * Features>, 0> in_proj_bias;
    projection<Storage> out_proj;
    TESSERA_PARAMETERS(in_proj_weight, in_proj_bias, out_proj)
  };
  template <class X> struct kept {
    resized<X, 3 * Features> projected;
    X mixed;
    resized<X, Options.heads> log_sum;
  };
  template <class X> static constexpr std::size_t time_of = bound_of(shape_of<X>::extents[0]);
  template <class X> using head_work = detail::attention_fn::workspace<X, time_of<X>, width>;
  template <class X, class Call> struct scratch {
    using in_weights = detail::affine_map_fn::packed<X, 3 * Features>;
    using out_weights = detail::affine_map_fn::packed<X, Features>;

    [[no_unique_address]] detail::packed_in<Call, in_weights> packed_in;
    [[no_unique_address]] detail::packed_in<Call, out_weights> packed_out;
    head_work<X> head;
  };
  template <class X> struct slopes {
    resized<X, 3 * Features> projected;
    X mixed;
    head_work<X> head;
  };
  template <class S> using expected_shape = with_last<with_rank<S, 3>, Features>;
  template <class S> using output_shape = S;
  static constexpr auto about = facts{.backward_reads = reads::input,
                                      .reads_parameters_first = true,
                                      .kept = true,
                                      .scratch = true,
                                      .slopes = true};

  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    using T = scalar_of<decltype(x)>;
    using B = backend_of<decltype(x)>;
    auto const projected = m.kept.projected.sized_like(x);  // (time, batch, 3·Features)
    auto const mixed = m.kept.mixed.sized_like(x);          // (time, batch, Features)
    affine_map.template prepare<B>(p.in_proj_weight, m.work.packed_in);
    affine_map(x, p.in_proj_weight, data_or_null<T const>(p.in_proj_bias), projected,
               m.work.packed_in);
    attention.template forward<B>(heads_of(as_const(projected)), mixed.data(),
                                  m.kept.log_sum.data(), m.work.head);
    affine_map.template prepare<B>(p.out_proj.weight, m.work.packed_out);
    affine_map(as_const(mixed), p.out_proj.weight, data_or_null<T const>(p.out_proj.bias), y,
               m.work.packed_out);
  }
  static constexpr void backward(auto const& p, auto x, auto, auto dy, auto dx, auto& gradient,
                                 auto m) {
    using T = scalar_of<decltype(x)>;
    using B = backend_of<decltype(x)>;
    auto const projected = as_const(m.kept.projected.sized_like(x));
    auto const mixed = as_const(m.kept.mixed.sized_like(x));
    auto const dprojected = m.work.projected.sized_like(x);
    auto const dmixed = m.work.mixed.sized_like(x);
    affine_map_input(p.out_proj.weight, dy, dmixed);
    affine_map_parameters(mixed, dy, gradient.out_proj.weight.data(),
                          data_or_null<T>(gradient.out_proj.bias));
    auto* const d = dprojected.data();
    attention.template backward<B, T>(
        heads_of(projected),
        {mixed.data(), dmixed.data(), m.kept.log_sum.data(), d, d + Features, d + 2 * Features},
        m.work.head);
    affine_map_input(p.in_proj_weight, as_const(dprojected), dx.view);
    affine_map_parameters(x, as_const(dprojected), gradient.in_proj_weight.data(),
                          data_or_null<T>(gradient.in_proj_bias));
  }
  /// out_proj as a linear layer, then in_proj by xavier_uniform over the stacked matrix; biases are
  /// zero. The draws come in torch's order.
  static constexpr void initialize(auto& p, auto& generator) {
    generator.uniform(p.out_proj.weight, generator.kaiming_bound(Features));
    if constexpr (Options.bias) {
      generator.uniform(p.out_proj.bias, generator.reciprocal_root(Features));
      p.out_proj.bias = {};
      p.in_proj_bias = {};
    }
    generator.uniform(p.in_proj_weight, generator.xavier_bound(Features, 3 * Features));
  }
  template <class S>
  static constexpr std::size_t multiply_adds =
      S::capacity * (4 * Features + 2 * bound_of(S::extents[0]) / (Options.causal ? 2 : 1));

 private:
  [[nodiscard]] static constexpr auto heads_of(auto projected) {
    using T = scalar_of<decltype(projected)>;
    auto const time = projected.template extent_of<0>();
    auto const batch = projected.template extent_of<1>();
    auto const* const q = projected.data();
    return detail::attention_heads<T>{
        {time, time, width, batch * 3 * Features, batch * 3 * Features, batch * Features,
         batch * Options.heads, 0, Options.causal, T{1} / lane::sqrt(static_cast<T>(width)), q,
         q + Features, q + 2 * Features},
        batch,
        Options.heads,
        1,
        3 * Features,
        3 * Features,
        Features,
        Options.heads};
  }
};

}  // namespace tessera
