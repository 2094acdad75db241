// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/grad/join.hpp>
#include <tessera/grad/product.hpp>
#include <tessera/grad/reduction.hpp>
#include <tessera/grad/search.hpp>
#include <tessera/tensor/parameters.hpp>

/// What a function of (p, x) must be for its type to tell its gradient: one expression of them.
namespace tessera::tracing {

/// What an expression names that its gradient does not see; the last one is the worst.
enum class lost { nothing, outside_tensor, own_tensor, number };

namespace detail {

template <class Backend>
inline constexpr auto lost_in_memory = is_computed_apart<Backend> ? lost::own_tensor
                                       : is_probing<Backend>      ? lost::nothing
                                                                  : lost::outside_tensor;
[[nodiscard]] constexpr auto worst_of(auto... each) -> lost {
  auto worst = lost::nothing;
  ((worst = each > worst ? each : worst), ...);
  return worst;
}

/// Nothing where every operand in memory is p's or x's, or a constant that the expression owns.
template <class E> inline constexpr auto lost_by = lost::nothing;
template <class T, class S, class B>
inline constexpr auto lost_by<nodes::leaf<T, S, B>> = lost_in_memory<B>;
template <class T, class S, class B, bool U>
inline constexpr auto lost_by<nodes::strided_leaf<T, S, B, U>> = lost_in_memory<B>;
template <class X>
inline constexpr auto lost_by<nodes::owned_leaf<X>> =
    is_computed_apart<backend_of<X>> ? lost::own_tensor : lost::nothing;
template <class T> inline constexpr auto lost_by<nodes::read_number<T>> = lost::number;
template <class F, class... A>
inline constexpr auto lost_by<nodes::map<F, A...>> = worst_of(lost_by<A>...);
template <class Op, class... A>
inline constexpr auto lost_by<nodes::result<Op, A...>> = worst_of(lost_by<A>...);
template <class A, class S, bool U>
inline constexpr auto lost_by<nodes::arranged<A, S, U>> = lost_by<A>;

}  // namespace detail

/// L::forward, asked with views that exist in types only: what it computes by itself, reads as a
/// number or takes from elsewhere would be lost to the gradient. The objects tell of it.
///
/// Errors  tests/fail/forward_only_*.cpp
template <class L, class X> struct forward_only {
  using probe = probing<backend_of<X>>;
  using parameters = typename L::template parameters<viewed<scalar_of<X> const, probe>>;
  using returned =
      decltype(L::forward(std::declval<parameters const&>(),
                          std::declval<view<scalar_of<X> const, shape_of<X>, probe>>()));

  static constexpr bool is_expression = array_operand<returned>;
  static constexpr auto loses = [] {
    if constexpr (is_expression)
      return detail::lost_by<tessera::detail::node_of<scalar_of<X>, returned>>;
    else
      return lost::nothing;
  }();
  using shape_type = typename std::conditional_t<is_expression, returned, X>::shape_type;
};

}  // namespace tessera::tracing
