// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/grad/join.hpp>
#include <tessera/grad/product.hpp>
#include <tessera/grad/reduction.hpp>
#include <tessera/grad/search.hpp>
#include <tessera/tensor/parameters.hpp>

/// What a function of (p, x) must be for its type to tell its gradient: one expression of them.
namespace tessera::tracing {

namespace detail {

/// True where every operand in memory is p's or x's, or a constant that the expression owns.
template <class E> inline constexpr bool names_inputs_only = true;
template <class T, class S, class B>
inline constexpr bool names_inputs_only<nodes::leaf<T, S, B>> = is_probing<B>;
template <class T, class S, class B, bool U>
inline constexpr bool names_inputs_only<nodes::strided_leaf<T, S, B, U>> = is_probing<B>;
template <class F, class... A>
inline constexpr bool names_inputs_only<nodes::map<F, A...>> = (names_inputs_only<A> && ...);
template <class Op, class... A>
inline constexpr bool names_inputs_only<nodes::result<Op, A...>> = (names_inputs_only<A> && ...);
template <class A, class S, bool U>
inline constexpr bool names_inputs_only<nodes::arranged<A, S, U>> = names_inputs_only<A>;

}  // namespace detail

/// L::forward, asked with views that exist in types only: what it computes by itself, reads as a
/// number or takes from elsewhere would be lost to the gradient, and does not compile.
///
/// Errors  tests/fail/forward_only_*.cpp
template <class L, class X> struct forward_only {
  using probe = probing<backend_of<X>>;
  using parameters = typename L::template parameters<viewed<scalar_of<X> const, probe>>;
  using returned =
      decltype(L::forward(std::declval<parameters const&>(),
                          std::declval<view<scalar_of<X> const, shape_of<X>, probe>>()));

  static constexpr bool is_expression = array_operand<returned>;
  static_assert(complaint::holds<is_expression, complaint::in<L>>,
                "forward-only: `forward(p, x)` returns an expression, or a part of x");
  static constexpr bool names_inputs_only = [] {
    if constexpr (is_expression)
      return detail::names_inputs_only<tessera::detail::node_of<scalar_of<X>, returned>>;
    else
      return true;
  }();
  static_assert(complaint::holds<names_inputs_only, complaint::in<L>>,
                "forward-only: an operand is a tensor beside p and x, which the expression would "
                "only point to; a constant is taken by value: tensor<...>{{1, 2}} * x");
  using shape_type = typename std::conditional_t<is_expression, returned, X>::shape_type;
};

}  // namespace tessera::tracing
