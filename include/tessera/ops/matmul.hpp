// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/ops/product.hpp>
#include <tessera/shape/algebra.hpp>
#include <tessera/tensor/assign.hpp>
#include <tessera/tensor/slicing.hpp>

namespace tessera {

namespace detail {

/// Which matrix of an operand of shape Q belongs to matrix i of the product P: its leading axes
/// repeat. Calls f(axis of Q, index) for each of them that does not, from the last to the first.
template <class Q, class P, bool RowOnTheLeft>
constexpr void for_leading_axes(std::size_t i, auto const& f) {
  constexpr auto matrix = std::size_t{RowOnTheLeft ? 1 : 2};  // axes of one; two vectors leave none
  constexpr auto leading = P::rank > matrix ? P::rank - matrix : 0;
  constexpr auto own = Q::rank < 2 ? std::size_t{0} : Q::rank - 2;
  for (auto back = std::size_t{0}; back < leading && back < own; ++back) {
    auto const length = bound_of(P::extents[leading - 1 - back]);
    if (bound_of(Q::extents[own - 1 - back]) > 1) f(own - 1 - back, i % length);
    i /= length;
  }
}

/// Where a node has its elements, by distances, once it is computed.
template <class T, class S, class B, bool U>
[[nodiscard]] constexpr auto first_element_of(nodes::strided_leaf<T, S, B, U> const& e) -> T* {
  return e.memory;
}
template <class A, class S, bool U>
[[nodiscard]] constexpr auto first_element_of(nodes::arranged<A, S, U> const& e) {
  auto* const memory = e.arg.data();
  return memory == nullptr ? nullptr : memory + e.offset;
}
template <class E>
  requires requires(E const& e) { e.data(); }
[[nodiscard]] constexpr auto first_element_of(E const& e) {
  return e.data();
}

/// Matrix i of a product as it lies in one of its operands: a vector is a row on the left, and a
/// column on the right.
template <class T, bool Left, class P, bool RowOnTheLeft, class E>
[[nodiscard]] constexpr auto matrix_in(E const& e, std::size_t i) -> weight_matrix<T> {
  using Q = shape_of<E>;
  auto const strides = strides_of(e);
  auto at = std::ptrdiff_t{0};
  for_leading_axes<Q, P, RowOnTheLeft>(i, [&](std::size_t axis, std::size_t index) {
    at += strides[axis] * static_cast<std::ptrdiff_t>(index);
  });
  T const* const first = first_element_of(e);
  auto const* const data = first == nullptr ? nullptr : first + at;
  if constexpr (Q::rank >= 2)
    return {data, static_cast<std::size_t>(strides[Q::rank - 2]),
            static_cast<std::size_t>(strides[Q::rank - 1])};
  else if constexpr (Left)
    return {data, last_of<Q>, 1};
  else
    return {data, 1, 1};
}

/// An operand of a product as a node: matrices as they lie, else its value, and on a device always.
template <class With, bool Stays, class X> [[nodiscard]] constexpr auto as_matrices(X&& x) {
  auto const e = as_node<With>(std::forward<X>(x));
  using E = std::remove_const_t<decltype(e)>;
  if constexpr (Stays && not on_device<backend_of<E>> && shape_of<E>::rank >= 2 && requires {
                  first_element_of(e);
                  e.strides;
                })
    return e;
  else
    return as_memory<With>(e);
}

}  // namespace detail

namespace nodes {

/// A matrix product as an operation of an expression; its operands have memory.
struct matrix_product {
  template <class A, class B>
  using result = tensor<compute_of<scalar_of<A>>, product_shape<shape_of<A>, shape_of<B>>,
                        typename detail::backend_of_all<A, B>::type>;
  /// The first axis of the result is one of stacked matrices, which belongs to every operand that
  /// has it.
  template <class A, class B>
  static constexpr bool rows_apart = shape_of<A>::rank > 2 || shape_of<B>::rank > 2;
  template <class A, class B> static constexpr auto extents(A const&, B const&) {
    return actual_extents<product_shape<shape_of<A>, shape_of<B>>>{};
  }

  /// Calls f(rows, columns, depth, i, y) for every matrix of the product, whose place is y.
  template <class A, class B> static constexpr void for_each_matrix(auto&& f) {
    using S = shape_of<A>;
    using R = shape_of<B>;
    using P = product_shape<S, R>;
    constexpr auto depth = last_of<S>;
    constexpr auto columns = R::rank == 1 ? std::size_t{1} : last_of<R>;
    constexpr auto rows = [] {
      if constexpr (S::rank == 1)
        return std::size_t{1};
      else if constexpr (R::rank == 1)  // all rows of all matrices at once
        return S::capacity / depth;
      else
        return bound_of(S::extents[S::rank - 2]);
    }();
    for (auto i = std::size_t{0}; i < P::capacity / (rows * columns); ++i)
      f(rows, columns, depth, i, i * rows * columns);
  }
  /// The matrix of an operand, or of the place of its slopes.
  template <bool Left, class A, class B, class E>
  [[nodiscard]] static constexpr auto matrix(E const& e, std::size_t i) {
    using P = product_shape<shape_of<A>, shape_of<B>>;
    return tessera::detail::matrix_in < std::remove_const_t<scalar_of<E>>, Left, P,
           shape_of<A>::rank == 1 > (e, i);
  }
  template <class A, class B> static constexpr void compute(auto y, A const& a, B const& b) {
    for_each_matrix<A, B>([&](auto rows, auto columns, auto depth, auto i, auto at) {
      tessera::detail::multiply<backend_of<decltype(y)>>(
          tessera::detail::matrix_product<scalar_of<decltype(y)>>{.rows = rows,
                                                                  .columns = columns,
                                                                  .depth = depth,
                                                                  .a = matrix<true, A, B>(a, i),
                                                                  .b = matrix<false, A, B>(b, i),
                                                                  .c = y.data() + at,
                                                                  .c_row = columns,
                                                                  .adds = false});
    });
  }
};

}  // namespace nodes

/// The matrix product, by NumPy's rule: matrices and stacks of matrices, whose leading axes
/// broadcast; a vector is a row on the left and a column on the right. An expression, which is
/// computed once, before what reads it.
///
/// Shapes    (..., M, K) and (..., K, N) -> (..., M, N); (K) and (..., K, N) -> (..., N); (..., K)
///           and (K) -> (...); fixed
/// Cost      M·N·K multiply-adds for each matrix; operands that are expressions are computed first,
///           transposed matrices and slices are read where they lie, a B whose rows and columns
///           are both at a distance number by number
/// Accuracy  adds over K ascending from zero, one fused multiply-add each; its derivatives add over
///           N and over M ascending
/// Errors    shapes that do not multiply and whole numbers do not compile: tests/fail/matmul_*.cpp
template <array_operand A, array_operand B> [[nodiscard]] constexpr auto matmul(A&& a, B&& b) {
  using S = shape_of<A>;
  using R = shape_of<B>;
  using T = compute_of<scalar_of<A>>;
  constexpr auto fits = requires { typename product_shape<S, R>; };
  static_assert(complaint::holds<fits, S, R>, "matmul: these shapes do not multiply");
  static_assert(fixed_shape<S> && fixed_shape<R>, "matmul: fixed shapes");
  static_assert(std::same_as<scalar_of<A>, scalar_of<B>>,
                "matmul: operands of one scalar type; cast<T>(x) converts");
  constexpr auto multiplies = lane::number<std::remove_const_t<scalar_of<A>>>;
  static_assert(complaint::holds<multiplies, scalar_of<A>>,
                "matmul: operands of float or double; cast<float>(x) converts");
  // Of stacked matrices times a vector, all rows are one matrix.
  constexpr auto stays = S::rank <= 2 || R::rank != 1;
  auto const x = detail::as_matrices<T, stays>(std::forward<A>(a));
  if constexpr (fits && multiplies) {
    auto const w = detail::as_matrices<T, true>(std::forward<B>(b));
    using X = std::remove_const_t<decltype(x)>;
    using W = std::remove_const_t<decltype(w)>;
    return nodes::result<nodes::matrix_product, X, W>{{}, {x, w}};
  } else {
    return x;  // one mistake, one message
  }
}

}  // namespace tessera
