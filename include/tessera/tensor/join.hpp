// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/assign.hpp>
#include <tessera/tensor/slicing.hpp>

/// Tensors put together, by NumPy's names.
namespace tessera {

namespace nodes {

/// Operands one behind the other along an axis, which is a new one where `New` is said.
template <std::size_t Axis, bool New> struct joined {
  template <class... A> struct of;
  template <class First, class... More> struct of<First, More...> {
    template <class S>
    using part = std::conditional_t<New, std::type_identity<with_axis<S, New ? Axis : 0, 1>>,
                                    std::type_identity<S>>::type;
    using shape_type = concatenated<Axis, part<shape_of<First>>, part<shape_of<More>>...>;
    using backend_type = typename detail::backend_of_all<First, More...>::type;
  };
  template <class... A>
  using result = tensor<compute_of<scalar_of<std::tuple_element_t<0, std::tuple<A...>>>>,
                        typename of<A...>::shape_type, typename of<A...>::backend_type>;
  template <class... A> static constexpr bool rows_apart = Axis > 0;
  template <class... A> static constexpr auto extents(A const&...) {
    return actual_extents<shape_of<result<A...>>>{};
  }
  /// The elements of operand `I` of y.
  template <std::size_t I, class... A> static constexpr auto part_of(auto y) {
    using S = shape_of<std::tuple_element_t<I, std::tuple<A...>>>;
    constexpr auto extents_of_y = shape_of<decltype(y)>::extents;
    auto inner = std::ptrdiff_t{1};
    for (auto a = Axis + 1; a < extents_of_y.size(); ++a) inner *= extents_of_y[a];
    auto strides = std::array<std::ptrdiff_t, S::rank>{};
    auto distance = std::ptrdiff_t{1};
    for (auto a = extents_of_y.size(); a-- > 0; distance *= extents_of_y[a])
      if (not New || a != Axis) strides[New && a > Axis ? a - 1 : a] = distance;
    auto before = std::ptrdiff_t{0};
    if constexpr (New)
      before = static_cast<std::ptrdiff_t>(I);
    else
      [&]<std::size_t... J>(std::index_sequence<J...>) {
        ((before += J < I ? shape_of<A>::extents[Axis] : 0), ...);
      }(std::index_sequence_for<A...>{});
    using T = std::remove_pointer_t<decltype(y.data())>;
    constexpr auto unit = S::rank > 0 && not(New && Axis == S::rank);
    return strided_view<T, S, backend_of<decltype(y)>, unit>{
        y.data() + before * inner, {}, strides};
  }
  template <class... A> static constexpr void compute(auto y, A const&... a) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (tessera::detail::assign_pass(part_of<I, A...>(y), a), ...);
    }(std::index_sequence_for<A...>{});
  }
};

}  // namespace nodes

namespace detail {

template <std::size_t Axis, bool New, class... X> [[nodiscard]] constexpr auto join(X&&... x) {
  using first = std::remove_cvref_t<std::tuple_element_t<0, std::tuple<X...>>>;
  static_assert((std::same_as<compute_of<scalar_of<X>>, compute_of<scalar_of<first>>> && ...),
                "concatenate, stack: operands of one scalar type; cast<T>(x) converts");
  using result = nodes::result<nodes::joined<Axis, New>, node_of<scalar_of<first>, X>...>;
  return result{{}, nodes::make_items(as_node<scalar_of<first>>(std::forward<X>(x))...)};
}

}  // namespace detail

/// Joins tensors, views or expressions along an axis: concatenate(axis<1>, a, b, c).
///
/// Shapes  fixed; alike but for that axis, whose extents add up
/// Cost    one pass over each
/// Errors  shapes that do not join do not compile
template <std::ptrdiff_t Axis, array_operand... X>
  requires(sizeof...(X) > 0)
[[nodiscard]] constexpr auto concatenate(axis_list<Axis>, X&&... x) {
  using first = shape_of<std::tuple_element_t<0, std::tuple<X...>>>;
  constexpr auto at = detail::normal_axis<first::rank>(Axis);
  static_assert((fixed_shape<shape_of<X>> && ...),
                "concatenate: fixed shapes; copy bounded ones by slices");
  return detail::join<at, false>(std::forward<X>(x)...);
}

/// Joins tensors of one shape along a new axis: stack(axis<0>, a, b) has a at index 0.
///
/// Shapes  fixed and alike; the new axis has as many elements as there are tensors
/// Errors  shapes that differ do not compile
template <std::ptrdiff_t Axis, array_operand... X>
  requires(sizeof...(X) > 0)
[[nodiscard]] constexpr auto stack(axis_list<Axis>, X&&... x) {
  using first = shape_of<std::tuple_element_t<0, std::tuple<X...>>>;
  constexpr auto at = detail::normal_axis<first::rank + 1>(Axis);
  static_assert(fixed_shape<first> && (std::same_as<shape_of<X>, first> && ...),
                "stack: fixed shapes, all alike");
  return detail::join<at, true>(std::forward<X>(x)...);
}

}  // namespace tessera
