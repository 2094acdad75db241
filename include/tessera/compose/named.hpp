// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/traced.hpp>
#include <tessera/core/name.hpp>

namespace tessera {

/// The same layer under a name of its own, where a composition would call it by its index: the keys
/// of files that others wrote. An empty name adds nothing to a path.
///
/// Shapes  those of the layer
/// Source  reference values: tests/reference/unet.py, by the keys of diffusers
template <fixed_name Name, class Layer> struct named : as_layer<Layer> {
  using inner = as_layer<Layer>;
  static constexpr auto own_name = Name;

  template <class Storage> struct parameters {
    using parts = parameters_of<inner, Storage>;
    static constexpr auto own_name = Name;
    [[no_unique_address]] parameters_of<inner, Storage> layer;
    template <class F, class... P> static constexpr void visit(F const& f, P&... p) {
      f(name{}, p.layer...);
    }
  };
  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    inner::forward(p.layer, x, y, m);
  }
  static constexpr void step(auto const& p, auto x, auto y, auto m) {
    forward_or_step<inner>(p.layer, x, y, m);
  }
  static constexpr void backward(auto const& p, auto x, auto y, auto dy, auto dx, auto& gradient,
                                 auto m) {
    inner::backward(p.layer, x, y, dy, dx, gradient.layer, m);
  }
  static constexpr void initialize(auto& p, auto& generator) {
    initialize_layer<inner>(p.layer, generator);
  }
};

}  // namespace tessera
