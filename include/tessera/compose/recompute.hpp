// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/traced.hpp>

namespace tessera {

/// The same layer without its tape: the backward pass runs the forward pass once more. Time for
/// memory, as torch.utils.checkpoint.
///
/// Shapes  those of the layer
/// State   that of the layer; the tape keeps the one that the call started from
/// Cost    a second forward pass; the layer's tape is scratch, which compositions overlay: N of
///         them after each other need the memory of one
/// Accuracy  the same bits, dropout included
template <class Layer> struct recompute : as_layer<Layer> {
  using inner = as_layer<Layer>;
  static constexpr auto backward_reads = reads::input;
  static constexpr bool in_place = false;

  template <class X> struct tape {
    [[no_unique_address]] state_of<inner, X, mode::training> start;
  };
  template <class X, mode M> struct scratch : scratch_of<inner, X, M> {};
  template <class X> struct scratch<X, mode::training> {
    output_of<inner, X> y;
    [[no_unique_address]] state_of<inner, X, mode::training> state;
    [[no_unique_address]] tape_of<inner, X> tape;
    [[no_unique_address]] scratch_of<inner, X, mode::training> layer;
  };

  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    if constexpr (m.training) {
      if constexpr (tessera::stateful<inner>)
        copy_on<backend_of<decltype(x)>>(m.tape.start, m.state);
      inner::forward(p, x, y, again(m, m.state));
    } else {
      inner::forward(p, x, y, m);
    }
  }
  static constexpr void backward(auto const& p, auto x, auto, auto dy, auto dx, auto& gradient,
                                 auto m) {
    auto const y = view_of<kind_of<decltype(dy)>>{m.scratch.y.data(), dy.actual};
    if constexpr (tessera::stateful<inner>)
      copy_on<backend_of<decltype(x)>>(m.scratch.state, m.tape.start);
    inner::forward(p, x, y, again(m, m.scratch.state));
    inner::backward(p, x, as_const(y), dy, dx, gradient, again(m, m.scratch.state));
  }

 private:
  [[nodiscard]] static constexpr auto again(auto m, auto& state) {
    return lend<m.purpose>(state, m.scratch.tape, m.scratch.layer, m.context);
  }
};

}  // namespace tessera
