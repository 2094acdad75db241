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

/// The shape of a part of the input, which alone is not constant in types; void of all else.
template <class E> struct input_part {
  using type = void;
};
template <class T, class S, class B>
  requires(not std::is_const_v<T>)
struct input_part<nodes::leaf<T, S, B>> {
  using type = S;
};
template <class T, class S, class B, bool U>
  requires(not std::is_const_v<T>)
struct input_part<nodes::strided_leaf<T, S, B, U>> {
  using type = S;
};
/// False where a part of the input has not all Times rows in their order.
template <class E, std::ptrdiff_t Times>
inline constexpr bool keeps_rows = [] {
  using S = typename input_part<E>::type;
  if constexpr (std::is_void_v<S>)
    return true;
  else if constexpr (S::rank == 0)
    return false;
  else
    return S::extents[0] % Times == 0;
}();
template <class F, class... A, std::ptrdiff_t Times>
inline constexpr bool keeps_rows<nodes::map<F, A...>, Times> = (keeps_rows<A, Times> && ...);
template <class Op, class... A, std::ptrdiff_t Times>
inline constexpr bool keeps_rows<nodes::result<Op, A...>, Times> = (keeps_rows<A, Times> && ...);

/// False where an operation on a sequence and the same one on a sample count axes from the front,
/// so that they are not the same axes. Of parameters they are.
template <class Sequence, class Sample>
inline constexpr bool same_axes = [] {
  using S = typename input_part<Sequence>::type;
  using R = typename input_part<Sample>::type;
  if constexpr (std::is_void_v<S> || std::is_void_v<R>)
    return true;
  else if constexpr (S::rank == 0)
    return std::same_as<S, R>;
  else if constexpr (S::rank == R::rank)  // times and lanes in one axis
    return std::same_as<without_first<S>, without_first<R>>;
  else
    return std::same_as<without_first<S>, R>;
}();
template <class J, bool K, std::ptrdiff_t... Axes>
inline constexpr bool same_axes<nodes::reduction<J, K, Axes...>, nodes::reduction<J, K, Axes...>> =
    ((Axes < 0) && ...);
template <bool L, std::size_t A, std::size_t B>
inline constexpr bool same_axes<nodes::search<L, A>, nodes::search<L, B>> = A == B + 1;
template <std::size_t A, std::size_t B, bool New>
inline constexpr bool same_axes<nodes::joined<A, New>, nodes::joined<B, New>> = A == B + 1;
template <class F, class... A, class... B>
  requires(sizeof...(A) == sizeof...(B))
inline constexpr bool same_axes<nodes::map<F, A...>, nodes::map<F, B...>> =
    (same_axes<A, B> && ...);
template <class Op, class... A, class OtherOp, class... B>
  requires(sizeof...(A) == sizeof...(B))
inline constexpr bool same_axes<nodes::result<Op, A...>, nodes::result<OtherOp, B...>> =
    std::same_as<nodes::result<Op, A...>, nodes::result<OtherOp, B...>> ||
    (same_axes<Op, OtherOp> && (same_axes<A, B> && ...));

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

/// L::forward of a sequence, beside that of one sample X of it.
///
/// Errors  tests/fail/streaming_*.cpp
template <class L, class X> class by_samples {
  static constexpr std::ptrdiff_t times = 1009;  // which is no other extent
  using T = std::remove_const_t<scalar_of<X>>;
  using probe = probing<backend_of<X>>;
  template <class S>
  using expression = tessera::detail::node_of<
      T, decltype(L::forward(
             std::declval<typename L::template parameters<viewed<T const, probe>> const&>(),
             std::declval<view<T, S, probe>>()))>;
  using of_sequence = expression<with_axis<shape_of<X>, 0, times>>;

 public:
  /// True where what it makes of a sample does not depend on another one.
  static constexpr bool are_apart =
      of_sequence::rows_apart && detail::keeps_rows<of_sequence, times>;
  /// True where it means the same axes of both.
  static constexpr bool have_same_axes = detail::same_axes<of_sequence, expression<shape_of<X>>>;
};

}  // namespace tessera::tracing
