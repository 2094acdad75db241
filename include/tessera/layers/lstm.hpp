// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary.hpp>
#include <tessera/layers/recurrent.hpp>

namespace tessera {

/// What torch.nn.LSTM leaves to choose.
struct lstm_options {
  std::size_t layers = 1;
  probability dropout = {};  ///< after every layer but the last, in training
  bool bias = true;
  std::size_t projection = 0;  ///< h = W_hr·(o·tanh(c)) with this many values, where not 0
  bool bidirectional = false;
};

/// One unit of torch.nn.LSTM: gates in the order input, forget, candidate, output; the value beside
/// them is c.
struct lstm_cell {
  static constexpr std::size_t gates = 4;
  static constexpr bool carries = true;
  static constexpr auto sums = std::array<recurrent_sum, 4>{{{0}, {1}, {2}, {3}}};
  template <class H, class C> struct state {
    H h;
    C c;
  };

  /// c = f·c + i·g;  h = o·tanh(c)
  template <class V>
  [[nodiscard]] TESSERA_INLINE static constexpr auto forward(V const (&sum)[4], V c_before)
      -> recurrent_unit<V, 4> {
    using namespace lane;
    auto const g = tanh(sum[2]);  // the longest way to c comes first
    auto const i = sigmoid(sum[0]);
    auto const f = sigmoid(sum[1]);
    auto const o = sigmoid(sum[3]);
    auto const c = fma(f, c_before, i * g);
    return {{i, f, g, o}, c, o * tanh(c)};
  }
  template <class V>
  [[nodiscard]] TESSERA_INLINE static constexpr auto backward(V const (&values)[4], V c, V c_before,
                                                              V dh, V dc) -> recurrent_slope<V, 4> {
    using namespace lane;
    auto const one = V(1);
    auto const tanh_c = tanh(c);
    auto const [i, f, g, o] = values;
    auto const d = fma(dh * o, one - tanh_c * tanh_c, dc);
    return {{d * g * (i * (one - i)), d * c_before * (f * (one - f)), d * i * (one - g * g),
             dh * tanh_c * (o * (one - o))},
            c,
            d * f};
  }
};

/// One layer of long short-term memory over time, the first axis.
///
/// Shapes  x (time, ..., In) -> y (time, ..., Out), Out = Hidden or the projection
/// State   {h, c}
/// Cost    a step: 4·Hidden·(In + Out) multiply-adds, and Hidden·Out more with a projection
template <std::size_t In, std::size_t Hidden, lstm_options Options = lstm_options{},
          std::size_t Level = 0>
using lstm_layer = recurrent_layer<lstm_cell, In, Hidden, Options, recurrent_place{.level = Level}>;

/// Long short-term memory over time, the first axis: torch.nn.LSTM, with layers on top of each
/// other and dropout between them, in one direction or both.
///
/// Shapes  x (time, ..., In) -> y (time, ..., Out), Out = Hidden or the projection, twice that in
///         both directions; a step takes and gives one sample. Parameters, by torch's names:
///         weight_ih_l0 (4·Hidden, In), weight_hh_l0 (4·Hidden, Out), bias_ih_l0, bias_hh_l0
///         (4·Hidden), weight_hr_l0 (Out, Hidden), those of l1, ..., and weight_ih_l0_reverse, ...
/// State   of each layer {h, c}: layer_state<Level, Direction>(run.state)
/// Errors  an input whose last extent is not In does not compile: tests/fail/lstm_wrong_input.cpp
/// Source  torch.nn.LSTM: gates in the order input, forget, candidate, output, and two biases;
///         reference values: tests/reference/lstm.py
template <std::size_t In, std::size_t Hidden, lstm_options Options = lstm_options{}>
struct lstm : recurrent<lstm_cell, In, Hidden, Options> {};

}  // namespace tessera
