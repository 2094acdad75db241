// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/named.hpp>
#include <tessera/compose/residual.hpp>
#include <tessera/compose/sequential.hpp>
#include <tessera/layers/attention.hpp>
#include <tessera/layers/last_step.hpp>
#include <tessera/layers/layer_norm.hpp>
#include <tessera/layers/linear.hpp>
#include <tessera/layers/lstm.hpp>

namespace tessera {

struct lstm_attention_options {
  std::size_t features = 15;
  std::size_t hidden = 64;
  std::size_t layers = 2;
  std::size_t heads = 1;
  std::size_t outputs = 1;
  probability dropout = {};  ///< between the layers of the LSTM, in training
  bool causal = false;       ///< a sample sees itself and the ones before
};

/// The names of its attention's projections.
struct forecast_projections {
  static constexpr auto query = "query";
  static constexpr auto key = "key";
  static constexpr auto value = "value";
  static constexpr auto out = "out";
};

/// A forecaster of a sequence: an LSTM, its own attention over all samples without a projection
/// behind it, their sum normed, the last sample, a linear layer.
///
/// Shapes  x (time, batch, features) -> (batch, outputs); parameters: lstm.weight_ih_l0, ...,
///         attention.query, .key and .value, layer_norm, fc, each weight and bias
/// Cost    of the LSTM, and time·batch·hidden·(3·hidden + 2·time) multiply-adds. A call that has
///         given<tag::attention_weights>, (batch, heads, time, time), is told where it looked
/// Source  torch.nn.LSTM, scaled dot products, torch.nn.LayerNorm; a seed gives torch's initial
///         bits; reference values: tests/reference/lstm_attention.py
template <lstm_attention_options O = lstm_attention_options{}>
using lstm_attention = sequential<
    named<"lstm",
          lstm<O.features, O.hidden, lstm_options{.layers = O.layers, .dropout = O.dropout}>>,
    named<"attention", residual<named<"", attention_layer<O.hidden,
                                                          attention_options{.heads = O.heads,
                                                                            .causal = O.causal,
                                                                            .out_projection = false,
                                                                            .weights = true},
                                                          forecast_projections>>>>,
    named<"layer_norm", layer_norm<O.hidden>>, last_step, named<"fc", linear<O.hidden, O.outputs>>>;

}  // namespace tessera
