// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/memory.hpp>

namespace tessera {

/// A layer in its place: what for_each_layer hands out, as a type.
template <class Layer, class X> struct place_of_layer {
  using layer = as_layer<Layer>;
  using input = X;
  using output = output_of<layer, X>;
  static constexpr auto parameters = parameter_count<Layer>;
  static constexpr auto tape = bytes_of<tape_of<layer, X>>;
  static constexpr auto scratch = bytes_of<scratch_of<layer, X, mode::training>>;
  /// Multiply-adds of a forward pass, with bounded extents at their bound; 0 where the layer counts
  /// none.
  static constexpr auto multiply_adds = [] {
    if constexpr (requires { layer::template multiply_adds<shape_of<X>>; })
      return layer::template multiply_adds<shape_of<X>>;
    else
      return std::size_t{0};
  }();
};

/// True for a layer made of others, which it hands out with their inputs.
template <class L, class X>
inline constexpr bool is_composition = requires(decltype([]<std::size_t, class, class>() {}) each) {
  L::template for_each_child<X>(each);
};

namespace detail {

template <class Layer, class X> constexpr void walk_layers(name const& path, auto& f) {
  using L = as_layer<Layer>;
  if constexpr (is_composition<L, X>) {
    L::template for_each_child<X>([&]<std::size_t I, class Child, class Input>() {
      walk_layers<Child, Input>(path / name_inside<Child>(I), f);
    });
  } else {
    f(path, place_of_layer<Layer, X>{});
  }
}

}  // namespace detail

/// Calls f(path, place_of_layer<Layer, Input>{}) for every layer of a model that is no composition,
/// in the order of the forward pass: "0", "1.0" and so on.
template <class Model, class X> constexpr void for_each_layer(auto&& f) {
  detail::walk_layers<Model, X>(name{}, f);
}

}  // namespace tessera
