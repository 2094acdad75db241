// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/matmul.hpp>
#include <tessera/shape/algebra.hpp>
#include <tessera/tensor/assign.hpp>

#if TESSERA_SIMD
#include <tessera/ops/simd/matmul.hpp>
#endif

namespace tessera {

namespace detail {

/// Which matrix of an operand of shape Q belongs to matrix i of the product P: its leading axes
/// repeat.
template <class Q, class P, bool RowOnTheLeft>
[[nodiscard]] constexpr auto matrix_of(std::size_t i) -> std::size_t {
  constexpr auto leading = P::rank - (RowOnTheLeft ? 1 : 2);
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

/// The matrix product, by NumPy's rule: matrices and stacks of matrices, whose leading axes
/// broadcast; a vector is a row on the left and a column on the right.
///
/// Shapes    (..., M, K) and (..., K, N) -> (..., M, N); (K) and (..., K, N) -> (..., N); (..., K)
///           and (K) -> (...); fixed
/// Cost      M·N·K multiply-adds for each matrix; expressions are evaluated first; the result is a
///           tensor of its own
/// Accuracy  adds over K ascending from zero, one fused multiply-add each
/// Errors    shapes that do not multiply do not compile
template <array_operand A, array_operand B>
[[nodiscard]] constexpr auto matmul(A const& a, B const& b) {
  using T = scalar_of<A>;
  using S = shape_of<A>;
  using R = shape_of<B>;
  using P = product<S, R>;
  static_assert(fixed_shape<S> && fixed_shape<R>, "matmul: fixed shapes");
  constexpr auto row_of_a = S::rank == 1;
  constexpr auto column_of_b = R::rank == 1;
  constexpr auto depth = last_of<S>;
  constexpr auto columns = column_of_b ? std::size_t{1} : last_of<R>;
  constexpr auto rows = [] {
    if constexpr (row_of_a) return std::size_t{1};
    // A vector on the right: all rows of all matrices at once.
    if constexpr (column_of_b)
      return S::capacity / depth;
    else
      return bound_of(S::extents[S::rank - 2]);
  }();
  auto const x = kind_of<A>(a * T{1});
  auto const w = kind_of<B>(b * T{1});
  auto y = tensor<T, P, backend_of<A>>{};
  using kernel_type = kernel<detail::matmul_fn, backend_of<A>>;
  constexpr auto matrices = P::capacity / (rows * columns);
  if constexpr (matrices == 1) {
    kernel_type::run(rows, columns, depth, x.values, w.values, y.values);
  } else {
    for (auto i = std::size_t{0}; i < matrices; ++i)
      kernel_type::run(rows, columns, depth,
                       x.values + detail::matrix_of<S, P, row_of_a>(i) * rows * depth,
                       w.values + detail::matrix_of<R, P, row_of_a>(i) * depth * columns,
                       y.values + i * rows * columns);
  }
  return y;
}

}  // namespace tessera
