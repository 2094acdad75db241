// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/assign.hpp>
#include <tessera/tensor/slicing.hpp>

/// Tensors put together, by NumPy's names; what comes out is a tensor of its own.
namespace tessera {

namespace detail {

/// The elements of x behind those of the tensors before it: `before` of their axis are taken.
template <std::size_t Axis, class Y, class X>
constexpr void join_at(Y& y, X const& x, std::size_t before) {
  using S = shape_of<X>;
  auto inner = std::size_t{1};
  for (auto a = Axis + 1; a < S::rank; ++a) inner *= bound_of(S::extents[a]);
  auto const run = bound_of(S::extents[Axis]) * inner;
  auto const stride = bound_of(shape_of<Y>::extents[Axis]) * inner;
  for (auto outer = std::size_t{0}; outer * run < S::capacity; ++outer)
    for (auto i = std::size_t{0}; i < run; ++i)
      y.values[outer * stride + before * inner + i] = x.values[outer * run + i];
}

}  // namespace detail

/// Joins tensors, views or expressions along an axis: concatenate(axis<1>, a, b, c).
///
/// Shapes  fixed; alike but for that axis, whose extents add up
/// Cost    expressions are evaluated first; a copy of every element
/// Errors  shapes that do not join do not compile
template <std::ptrdiff_t Axis, array_operand... X>
  requires(sizeof...(X) > 0)
[[nodiscard]] constexpr auto concatenate(axis_list<Axis>, X const&... x) {
  using first = std::tuple_element_t<0, std::tuple<X...>>;
  constexpr auto rank = static_cast<std::ptrdiff_t>(shape_of<first>::rank);
  constexpr auto at = static_cast<std::size_t>(Axis < 0 ? Axis + rank : Axis);
  using S = concatenated<at, shape_of<X>...>;
  static_assert(fixed_shape<S>, "concatenate: fixed shapes; copy bounded ones by slices");
  auto result = tensor<scalar_of<first>, S, backend_of<first>>{};
  auto before = std::size_t{0};
  ((detail::join_at<at>(result, kind_of<X>(x * scalar_of<X>{1}), before),
    before += bound_of(shape_of<X>::extents[at])),
   ...);
  return result;
}

/// Joins tensors of one shape along a new axis: stack(axis<0>, a, b) has a at index 0.
///
/// Shapes  fixed and alike; the new axis has as many elements as there are tensors
/// Errors  shapes that differ do not compile
template <std::ptrdiff_t Axis, array_operand... X>
  requires(sizeof...(X) > 0)
[[nodiscard]] constexpr auto stack(axis_list<Axis>, X const&... x) {
  using first = std::tuple_element_t<0, std::tuple<X...>>;
  constexpr auto rank = static_cast<std::ptrdiff_t>(shape_of<first>::rank) + 1;
  constexpr auto at = static_cast<std::size_t>(Axis < 0 ? Axis + rank : Axis);
  using one_of = with_axis<shape_of<first>, at, 1>;
  static_assert((std::same_as<shape_of<X>, shape_of<first>> && ...), "stack: shapes differ");
  auto const with_new_axis = [](auto const& each) {
    return tensor<scalar_of<first>, one_of, backend_of<first>>(
        reshape<one_of>(kind_of<std::remove_cvref_t<decltype(each)>>(each * scalar_of<first>{1})) *
        scalar_of<first>{1});
  };
  return concatenate(axis<static_cast<std::ptrdiff_t>(at)>, with_new_axis(x)...);
}

}  // namespace tessera
