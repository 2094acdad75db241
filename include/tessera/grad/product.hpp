// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/grad/trace.hpp>
#include <tessera/ops/matmul.hpp>

namespace tessera::detail {

/// C += A·B, whose rows are c_row and whose columns are c_column apart. Where one of these is 0, C
/// repeats what lies there once, to which every repetition is added.
template <class Backend, class T>
constexpr void add_product(matrix_product<T> const& p, std::size_t c_column) {
  if (p.c_row == 0 && p.rows > 1) {
    auto row = p;
    row.rows = 1;
    for (auto r = std::size_t{0}; r < p.rows; ++r) {
      row.a = p.a.part(r, 0);
      add_product<Backend>(row, c_column);
    }
  } else if (c_column == 1 || p.columns == 1) {
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
    auto column = p;
    column.columns = 1;
    for (auto c = std::size_t{0}; c < p.columns; ++c) {
      column.b = p.b.part(0, c);
      column.c = p.c + c * c_column;
      multiply<Backend>(column);
    }
  }
}

/// A constant that the function made has no slopes.
template <class Place> inline constexpr bool takes_slopes = true;
template <class X> inline constexpr bool takes_slopes<nodes::owned_leaf<X>> = false;
template <class A, class S, bool U>
inline constexpr bool takes_slopes<nodes::arranged<A, S, U>> = takes_slopes<A>;

/// Where the slopes of an operand go; null where they are not wanted.
template <class T, class Place> [[nodiscard]] constexpr auto wanted_in(Place const& place) -> T* {
  // A place is never const; only the name under which the function saw it was.
  if constexpr (takes_slopes<Place>)
    return const_cast<T*>(first_element_of(place));
  else
    return nullptr;
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
  auto const& a = of.template get<0>();
  auto const& b = of.template get<1>();
  auto const& place_a = places.template get<0>();
  auto const& place_b = places.template get<1>();
  auto const each = [&](auto&& f) { matrix_product::for_each_matrix<A, B>(f); };
  if (tessera::detail::wanted_in<T>(place_a) != nullptr)
    each([&](auto rows, auto columns, auto depth, auto i, auto y) {
      auto const place = matrix_product::matrix<true, A, B>(place_a, i);
      add_product<Backend>(
          tessera::detail::matrix_product<T>{
              .rows = rows,
              .columns = depth,
              .depth = columns,
              .a = {slope.data() + y, columns, 1},
              .b = matrix_product::matrix<false, A, B>(b, i).transposed(),
              .c = const_cast<T*>(place.data),
              .c_row = place.row,
              .adds = true},
          place.column);
    });
  if (tessera::detail::wanted_in<T>(place_b) != nullptr)
    each([&](auto rows, auto columns, auto depth, auto i, auto y) {
      auto const place = matrix_product::matrix<false, A, B>(place_b, i);
      add_product<Backend>(
          tessera::detail::matrix_product<T>{
              .rows = depth,
              .columns = columns,
              .depth = rows,
              .a = matrix_product::matrix<true, A, B>(a, i).transposed(),
              .b = {slope.data() + y, columns, 1},
              .c = const_cast<T*>(place.data),
              .c_row = place.row,
              .adds = true},
          place.column);
    });
}

}  // namespace tessera::nodes
