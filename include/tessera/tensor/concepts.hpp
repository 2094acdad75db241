// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/shape/algebra.hpp>

#include <type_traits>

/// What tensors are asked: the first header of this floor to read.
namespace tessera {

template <class X>
using scalar_of = std::remove_const_t<typename std::remove_cvref_t<X>::scalar_type>;
template <class X> using shape_of = typename std::remove_cvref_t<X>::shape_type;
template <class X> using backend_of = typename std::remove_cvref_t<X>::backend_type;

namespace nodes {
struct base {};
template <class T> struct read_number;  // tensor/node/leaf.hpp
}  // namespace nodes

/// The backend of tensors that exist in types only: a forward-only function is asked with it
/// whether all it computes is one expression (grad/forward_only.hpp).
template <class Backend> struct probing : Backend {
  using fallback = Backend;
};
template <class Backend> inline constexpr bool is_probing = false;
template <class Backend> inline constexpr bool is_probing<probing<Backend>> = true;
/// The backend of a tensor that such a function computes by itself.
template <class Backend> struct computed_apart : Backend {
  using fallback = Backend;
};
template <class Backend> inline constexpr bool is_probing<computed_apart<Backend>> = true;
template <class Backend> inline constexpr bool is_computed_apart = false;
template <class Backend> inline constexpr bool is_computed_apart<computed_apart<Backend>> = true;
namespace detail {
template <class Backend> struct backend_of_value {
  using type = Backend;
};
template <class Backend> struct backend_of_value<probing<Backend>> {
  using type = computed_apart<Backend>;
};
}  // namespace detail
/// The backend of a tensor that takes the value of an expression: the same, unless it exists in
/// types only.
template <class Backend> using value_backend = typename detail::backend_of_value<Backend>::type;

/// An expression: a tree of operations that computes when it is assigned. (The compiler is asked
/// for the base: std::is_base_of_v makes a class of every pair.)
template <class E>
concept expression = __is_base_of(nodes::base, std::remove_cvref_t<E>);

/// A tensor, or a view of one: memory with a shape.
template <class X>
concept tensor_like = not expression<X> && requires(std::remove_cvref_t<X> const& x) {
  requires shape_like<shape_of<X>>;
  typename std::remove_cvref_t<X>::scalar_type;
  typename backend_of<X>;
  x.data();
};

/// A tensor whose elements lie one after another at its actual extents.
template <class X>
concept contiguous = tensor_like<X> && std::remove_cvref_t<X>::is_contiguous;

/// A tensor that owns its elements.
template <class X>
concept owning = tensor_like<X> && std::remove_cvref_t<X>::is_owning;

/// A plain number; in an expression it takes the scalar type of what it is combined with, of which
/// it has to be one: 0.5 beside integers does not compile.
template <class E>
concept plain_number =
    not std::is_class_v<std::remove_cvref_t<E>> && std::is_arithmetic_v<std::remove_cvref_t<E>>;

/// What the operators of expressions take.
template <class E>
concept array_operand = expression<E> || tensor_like<E>;
template <class E>
concept operand = array_operand<E> || plain_number<E>;

}  // namespace tessera
