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
/// repeat.
template <class Q, class P, bool RowOnTheLeft>
[[nodiscard]] constexpr auto matrix_of(std::size_t i) -> std::size_t {
  constexpr auto matrix = std::size_t{RowOnTheLeft ? 1 : 2};  // axes of one; two vectors leave none
  constexpr auto leading = P::rank > matrix ? P::rank - matrix : 0;
  constexpr auto own = Q::rank < 2 ? std::size_t{0} : Q::rank - 2;
  auto at = std::size_t{0};
  auto stride = std::size_t{1};
  for (auto back = std::size_t{0}; back < leading; ++back) {
    auto const length = bound_of(P::extents[leading - 1 - back]);
    if (back < own) {
      auto const length_of_q = bound_of(Q::extents[own - 1 - back]);
      if (length_of_q > 1) at += i % length * stride;
      stride *= length_of_q;
    }
    i /= length;
  }
  return at;
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

  /// Calls f(rows, columns, depth, x, w, y) with the distances of every matrix of the product.
  template <class A, class B> static constexpr void for_each_matrix(auto&& f) {
    using S = shape_of<A>;
    using R = shape_of<B>;
    using P = product_shape<S, R>;
    constexpr auto row_of_a = S::rank == 1;
    constexpr auto depth = last_of<S>;
    constexpr auto columns = R::rank == 1 ? std::size_t{1} : last_of<R>;
    constexpr auto rows = [] {
      if constexpr (row_of_a)
        return std::size_t{1};
      else if constexpr (R::rank == 1)  // all rows of all matrices at once
        return S::capacity / depth;
      else
        return bound_of(S::extents[S::rank - 2]);
    }();
    for (auto i = std::size_t{0}; i < P::capacity / (rows * columns); ++i)
      f(rows, columns, depth, tessera::detail::matrix_of<S, P, row_of_a>(i) * rows * depth,
        tessera::detail::matrix_of<R, P, row_of_a>(i) * depth * columns, i * rows * columns);
  }
  template <class A, class B> static constexpr void compute(auto y, A const& a, B const& b) {
    for_each_matrix<A, B>([&](auto rows, auto columns, auto depth, auto x, auto w, auto at) {
      tessera::detail::multiply<backend_of<decltype(y)>>(
          tessera::detail::matrix_product<scalar_of<decltype(y)>>{.rows = rows,
                                                                  .columns = columns,
                                                                  .depth = depth,
                                                                  .a = {a.data() + x, depth, 1},
                                                                  .b = {b.data() + w, columns, 1},
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
/// Cost      M·N·K multiply-adds for each matrix; operands that are expressions are computed first
/// Accuracy  adds over K ascending from zero, one fused multiply-add each; its derivatives add over
///           N and over M ascending
/// Errors    shapes that do not multiply do not compile: tests/fail/matmul_shapes_differ.cpp
template <array_operand A, array_operand B> [[nodiscard]] constexpr auto matmul(A&& a, B&& b) {
  using S = shape_of<A>;
  using R = shape_of<B>;
  using T = compute_of<scalar_of<A>>;
  constexpr auto fits = requires { typename product_shape<S, R>; };
  static_assert(complaint::holds<fits, S, R>, "matmul: these shapes do not multiply");
  static_assert(fixed_shape<S> && fixed_shape<R>, "matmul: fixed shapes");
  static_assert(std::same_as<scalar_of<A>, scalar_of<B>>,
                "matmul: operands of one scalar type; cast<T>(x) converts");
  auto const x = detail::as_memory<T>(std::forward<A>(a));
  if constexpr (fits) {
    auto const w = detail::as_memory<T>(std::forward<B>(b));
    using X = std::remove_const_t<decltype(x)>;
    using W = std::remove_const_t<decltype(w)>;
    return nodes::result<nodes::matrix_product, X, W>{{}, {x, w}};
  } else {
    return x;  // one mistake, one message
  }
}

}  // namespace tessera
