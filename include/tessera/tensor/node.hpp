// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/node/leaf.hpp>
#include <tessera/tensor/node/map.hpp>
#include <tessera/tensor/node/result.hpp>

/// The nodes of an expression tree.
///
/// A node is a small value: a leaf points to its operand, a temporary operand lives in its node. It
/// names scalar_type, shape_type and backend_type, and answers
///   extents()         its actual extents
///   row(index)        a cursor on one row of the last axis; index holds the leading axes
///   temporaries       the memory of the operations that are computed before the row pass
///   bind(t)           tells the tree where those temporaries are; compute() fills them
///   conflicts(w)      true where writing to w would change what a later row reads
///   rows_apart        true where no row of the result depends on another row of an operand
/// A cursor reads through lanes: get(lanes, i), with `one_lane` a number, with vector lanes a
/// vector.
namespace tessera::detail {

template <class A> inline constexpr bool is_strided = false;
template <class T, class S, class B, bool U>
inline constexpr bool is_strided<strided_view<T, S, B, U>> = true;
template <class A> inline constexpr bool unit_last = false;
template <class T, class S, class B>
inline constexpr bool unit_last<strided_view<T, S, B, true>> = true;

/// An operand as a node. `With` is the scalar type that a plain number takes.
template <class With, class E> [[nodiscard]] constexpr auto as_node(E&& e) {
  using X = std::remove_cvref_t<E>;
  if constexpr (plain_number<X>) {
    // Plain arithmetic, as templates would cost every program their instances.
    constexpr auto half = 0.5F;
    constexpr auto has_fractions = static_cast<With>(half) != static_cast<With>(0) &&
                                   static_cast<With>(half) != static_cast<With>(1);
    constexpr auto is_whole =
        static_cast<X>(half) == static_cast<X>(0) || static_cast<X>(half) == static_cast<X>(1);
    constexpr auto both_are_truths =
        (static_cast<With>(2) == static_cast<With>(1)) == (static_cast<X>(2) == static_cast<X>(1));
    static_assert(has_fractions || (is_whole && both_are_truths),
                  "expression: this number is none of the array's type, and would be changed; "
                  "cast<T>(x) converts the array");
    constexpr auto may_wrap =
        not has_fractions && is_whole && static_cast<With>(2) != static_cast<With>(1);
    if constexpr (may_wrap)
      require(static_cast<X>(static_cast<With>(e)) == e &&
                  (static_cast<With>(e) < static_cast<With>(0)) == (e < static_cast<X>(0)),
              "expression: this number is none of the array's type; cast<T>(x) converts the array");
    return nodes::constant<With>{{}, static_cast<With>(e)};
  } else if constexpr (expression<X>) {
    return X(std::forward<E>(e));
  } else if constexpr (is_strided<X>) {
    return nodes::strided_leaf<typename X::scalar_type, shape_of<X>, backend_of<X>, unit_last<X>>{
        {}, e, e.data(), e.strides};
  } else if constexpr (owning<X>) {
    static_assert(fixed_shape<shape_of<X>>,
                  "expression: a tensor with bounded extents needs its actual ones: x.sized(n)");
    using T = std::remove_pointer_t<decltype(e.data())>;
    if constexpr (std::is_lvalue_reference_v<E>)
      return nodes::leaf<T, shape_of<X>, backend_of<X>>{{}, {}, e.data()};
    else
      return nodes::owned_leaf<X>{{}, e};
  } else {
    return nodes::leaf<typename X::scalar_type, shape_of<X>, backend_of<X>>{{}, e, e.data()};
  }
}
template <class With, class E> using node_of = decltype(as_node<With>(std::declval<E>()));

template <class... E> struct common_scalar;
template <class E, class... More>
  requires array_operand<E>
struct common_scalar<E, More...> {
  using type = compute_of<scalar_of<E>>;
};
template <class E, class... More>
  requires plain_number<E>
struct common_scalar<E, More...> : common_scalar<More...> {};

/// The scalar type that the plain numbers among E take: that of the first array.
template <class... E> using scalar_among = typename common_scalar<std::remove_cvref_t<E>...>::type;

}  // namespace tessera::detail
