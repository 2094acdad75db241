// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/grad/trace.hpp>
#include <tessera/ops/matmul.hpp>

namespace tessera::detail {

/// C += A·B, whose rows are c_row and whose columns are c_column apart. Where one of these is 0, C
/// repeats what lies there once, to which every repetition is added.
template <class Backend, class T>
constexpr void add_product(matrix_product<T> const& p, std::size_t c_column) {
  auto const rows_differ = p.c_row != 0 || p.rows == 1;
  if (rows_differ && (c_column == 1 || p.columns == 1)) {
    multiply<Backend>(p);
  } else if (p.c_row == 1 && c_column != 0) {  // Cᵀ += Bᵀ·Aᵀ
    auto turned = p;
    turned.rows = p.columns;
    turned.columns = p.rows;
    turned.a = p.b.transposed();
    turned.b = p.a.transposed();
    turned.c_row = c_column;
    multiply<Backend>(turned);
  } else {
    auto part = p;
    part.columns = 1;
    part.rows = rows_differ ? p.rows : 1;
    for (auto c = std::size_t{0}; c < p.columns; ++c)
      for (auto r = std::size_t{0}; r < p.rows; r += part.rows) {
        part.a = p.a.part(r, 0);
        part.b = p.b.part(0, c);
        part.c = p.c + c * c_column;
        multiply<Backend>(part);
      }
  }
}

/// Where the slopes of a matrix go; null where they are not wanted, or where no name holds it.
template <class T> [[nodiscard]] constexpr auto place_in(weight_matrix<T> const& of_place) -> T* {
  // A place is never const; only the name under which the function saw it was.
  return const_cast<T*>(of_place.data);
}

}  // namespace tessera::detail

/// The derivatives of a matrix product: da += dy·bᵀ, db += aᵀ·dy.
namespace tessera::nodes {

template <class A, class B, class PlaceA, class PlaceB>
constexpr void pull_operation(matrix_product, auto const&, auto const& slope,
                              tracing::operands<A, B> const& of,
                              tracing::operands<PlaceA, PlaceB> const& places) {
  using T = scalar_of<decltype(slope)>;
  using Backend = backend_of<decltype(slope)>;
  using tessera::detail::add_product;
  using tessera::detail::place_in;
  auto const& a = of.template get<0>();
  auto const& b = of.template get<1>();
  auto const each = [&](auto&& f) { matrix_product::for_each_matrix<A, B>(f); };
  each([&](auto rows, auto columns, auto depth, auto i, auto y) {
    auto const place = matrix_product::matrix<true, A, B>(places.template get<0>(), i);
    if (auto* const da = place_in<T>(place))
      add_product<Backend>(
          tessera::detail::matrix_product<T>{
              .rows = rows,
              .columns = depth,
              .depth = columns,
              .a = {slope.data() + y, columns, 1},
              .b = matrix_product::matrix<false, A, B>(b, i).transposed(),
              .c = da,
              .c_row = place.row,
              .adds = true},
          place.column);
  });
  each([&](auto rows, auto columns, auto depth, auto i, auto y) {
    auto const place = matrix_product::matrix<false, A, B>(places.template get<1>(), i);
    if (auto* const db = place_in<T>(place))
      add_product<Backend>(
          tessera::detail::matrix_product<T>{
              .rows = depth,
              .columns = columns,
              .depth = rows,
              .a = matrix_product::matrix<true, A, B>(a, i).transposed(),
              .b = {slope.data() + y, columns, 1},
              .c = db,
              .c_row = place.row,
              .adds = true},
          place.column);
  });
}

}  // namespace tessera::nodes
