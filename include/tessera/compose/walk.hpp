// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/memory.hpp>
#include <tessera/compose/named.hpp>

namespace tessera {

/// A layer in its place: what for_each_layer hands out, as a type.
template <class Layer, class X, class Call = training_call> struct place_of_layer {
  using layer = as_layer<Layer>;
  using input = X;
  using call = Call;
  using output = output_of<layer, X>;
  static constexpr auto parameters = parameter_count<Layer>;
  static constexpr auto kept = bytes_of<kept_of<layer, X, Call>>;
  static constexpr auto scratch = bytes_of<detail::work_of<layer, X, Call>>;
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
template <class L, class X, class Call = training_call>
inline constexpr bool is_composition =
    requires(decltype([]<std::size_t, class, class, class>(path_name const&) {}) each) {
      L::template for_each_child<X, Call>(each);
    };

namespace detail {

template <class Layer, class X, class Call>
constexpr void walk_layers(path_name const& path, auto& f) {
  using L = as_layer<Layer>;
  if constexpr (is_composition<L, X, Call>) {
    L::template for_each_child<X, Call>(
        [&]<std::size_t I, class Child, class Input, class Inside>(path_name const& child) {
          walk_layers<Child, Input, Inside>(path / child, f);
        });
  } else {
    f(path, place_of_layer<typename without_name<Layer>::type, X, Call>{});
  }
}

/// The way to the first layer of which Answer does not hold: outermost index first. A composition
/// is asked after its layers.
struct layer_position {
  bool found = false;
  std::size_t depth = 0;
  std::size_t at[64] = {};
};
template <template <class> class Answer, class Layer, class X, class Call>
constexpr void find_layer_without(layer_position& result) {
  using L = as_layer<Layer>;
  if constexpr (is_composition<L, X, Call>) {
    L::template for_each_child<X, Call>(
        [&]<std::size_t I, class Child, class Input, class Inside>(path_name const&) {
          if (result.found) return;
          result.at[result.depth++] = I;
          find_layer_without<Answer, Child, Input, Inside>(result);
          if (not result.found) --result.depth;
        });
    if (result.found) return;
  }
  result.found = not Answer<L>::value;
}

template <template <class> class Answer, class Model, class X, class Call>
inline constexpr auto layer_without = [] {
  auto result = layer_position{};
  find_layer_without<Answer, Model, X, Call>(result);
  return result;
}();

}  // namespace detail

/// The position of the first layer of a model of which Answer<Layer> does not hold, as an
/// complaint::at_position; complaint::none where it holds of all.
template <template <class> class Answer, class Model, class X, class Call = training_call>
[[nodiscard]] constexpr auto first_layer_without() {
  if constexpr (not detail::layer_without<Answer, Model, X, Call>.found)
    return std::type_identity<complaint::none>{};
  else
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return std::type_identity<
          complaint::at_position<detail::layer_without<Answer, Model, X, Call>.at[I]...>>{};
    }(std::make_index_sequence<detail::layer_without<Answer, Model, X, Call>.depth>{});
}

/// Calls f(path, place_of_layer<Layer, Input, Call>{}) for every layer of a model that is no
/// composition, in the order of the forward pass: "0", "1.0" and so on.
template <class Model, class X, class... Inputs> constexpr void for_each_layer(auto&& f) {
  detail::walk_layers<Model, X, call_for<call_mode::training, Inputs...>>(path_name{}, f);
}

}  // namespace tessera
