// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary.hpp>
#include <tessera/layers/recurrent.hpp>

namespace tessera {

/// What torch.nn.GRU leaves to choose.
struct gru_options {
  std::size_t layers = 1;
  probability dropout = {};  ///< after every layer but the last, in training
  bool bias = true;
  bool bidirectional = false;
};

/// One unit of torch.nn.GRU: gates in the order reset, update, candidate. The reset gate multiplies
/// the candidate's sum of h, its bias included: that sum stands beside the gates.
struct gru_cell {
  static constexpr std::size_t gates = 3;
  static constexpr bool carries = false;
  static constexpr auto sums =
      std::array<recurrent_sum, 4>{{{0}, {1}, {2, true, false}, {2, false, true}}};
  template <class H, class> struct state {
    H h;
  };

  /// n = tanh(x_n + r·h_n);  h = n + z·(h_before - n)
  template <class V>
  [[nodiscard]] TESSERA_INLINE static constexpr auto forward(V const (&sum)[4], V h_before)
      -> recurrent_unit<V, 3> {
    using namespace lane;
    auto const r = sigmoid(sum[0]);
    auto const z = sigmoid(sum[1]);
    auto const n = tanh(fma(r, sum[3], sum[2]));
    return {{r, z, n}, sum[3], fma(z, h_before - n, n)};
  }
  /// The candidate's slope is that of its sum of h; its sum of x has the one beside.
  template <class V>
  [[nodiscard]] TESSERA_INLINE static constexpr auto backward(V const (&values)[3], V h_sum,
                                                              V h_before, V dh, V direct)
      -> recurrent_slope<V, 3> {
    auto const one = V(1);
    auto const [r, z, n] = values;
    auto const d = dh + direct;
    auto const dn = d * (one - z) * (one - n * n);
    return {
        {dn * h_sum * (r * (one - r)), d * (h_before - n) * (z * (one - z)), dn * r}, dn, d * z};
  }
};

/// Gated recurrent units over time, the first axis: torch.nn.GRU, with layers on top of each other
/// and dropout between them, in one direction or both.
///
/// Shapes  x (time, ..., In) -> y (time, ..., Hidden), twice that in both directions; a step takes
///         and gives one sample. Parameters, by torch's names: weight_ih_l0 (3·Hidden, In),
///         weight_hh_l0 (3·Hidden, Hidden), bias_ih_l0, bias_hh_l0 (3·Hidden), those of l1, ...,
///         and weight_ih_l0_reverse, ...
/// State   of each layer {h}: layer_state<Level, Direction>(run.state)
/// Cost    a step: 3·Hidden·(In + Hidden) multiply-adds a layer and direction
/// Errors  an input whose last extent is not In does not compile: tests/fail/gru_wrong_input.cpp
/// Source  torch.nn.GRU: gates in the order reset, update, candidate, and two biases; reference
///         values: tests/reference/gru.py
template <std::size_t In, std::size_t Hidden, gru_options Options = gru_options{}>
struct gru : recurrent<gru_cell, In, Hidden, Options> {};

}  // namespace tessera
