// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/walk.hpp>
#include <tessera/io/onnx/place.hpp>

/// Is there a to_onnx for every layer of a model? The first that has none, by its place and type.
namespace tessera::detail {

template <class Layer, class X>
inline constexpr bool is_known_to_onnx =
    has_onnx<typename without_name<Layer>::type,
             onnx_place<parameters_of<as_layer<Layer>, storage_of<X>>,
                        statistics_of<as_layer<Layer>, storage_of<X>>>>;

template <class Layer, class X, class Call>
constexpr void find_unknown_to_onnx(layer_position& result) {
  using L = as_layer<Layer>;
  if constexpr (not is_known_to_onnx<Layer, X>) {
    result.found = true;
  } else if constexpr (is_composition<L, X, Call>) {
    L::template for_each_child<X, Call>(
        [&]<std::size_t I, class Child, class Input, class Inside>(path_name const&) {
          if (result.found) return;
          result.at[result.depth++] = I;
          find_unknown_to_onnx<Child, Input, Inside>(result);
          if (not result.found) --result.depth;
        });
  }
}
template <class Model, class X, class Call>
inline constexpr auto unknown_to_onnx = [] {
  auto result = layer_position{};
  find_unknown_to_onnx<Model, X, Call>(result);
  return result;
}();

/// The layer at a place; in `repeat` all are of one kind.
template <class Layer, std::size_t... Place> struct layer_at {
  using type = Layer;
};
template <class Layer, std::size_t First, std::size_t... Rest>
struct layer_at<Layer, First, Rest...> {
  using L = as_layer<Layer>;
  using type =
      typename layer_at<typename L::template child<(First < L::count ? First : L::count - 1)>,
                        Rest...>::type;
};
template <class Layer> struct without_tracing {
  using type = Layer;
};
template <class L> struct without_tracing<traced<L>> {
  using type = L;
};

template <class Layer, std::size_t... Place> struct unknown_layer {
  using layer = typename layer_at<Layer, Place...>::type;
  using type = typename without_tracing<typename without_name<layer>::type>::type;
  using place = complaint::at_position<Place...>;
};
/// The first layer that has no to_onnx; `nothing` where all have one.
template <class Model, class X, class Call> [[nodiscard]] constexpr auto first_unknown_to_onnx() {
  constexpr auto& found = unknown_to_onnx<Model, X, Call>;
  if constexpr (not found.found)
    return nothing{};
  else
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return unknown_layer<Model, unknown_to_onnx<Model, X, Call>.at[I]...>{};
    }(std::make_index_sequence<found.depth>{});
}

}  // namespace tessera::detail
