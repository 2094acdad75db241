// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/grad/trace.hpp>
#include <tessera/ops/matmul.hpp>

/// The derivatives of a matrix product: da += dy·bᵀ, db += aᵀ·dy.
namespace tessera::nodes {

template <class A, class B, class PlaceA, class PlaceB>
constexpr void pull_operation(matrix_product, auto const&, auto const& slope,
                              tracing::operands<A, B> const& of,
                              tracing::operands<PlaceA, PlaceB> const& places) {
  using T = scalar_of<decltype(slope)>;
  using tessera::detail::multiply;
  auto const& a = of.template get<0>();
  auto const& b = of.template get<1>();
  auto const each = [&](auto&& f) { matrix_product::for_each_matrix<A, B>(f); };
  if (auto* const da = tracing::place_memory<T>(places.template get<0>()))
    each([&](auto rows, auto columns, auto depth, auto x, auto w, auto y) {
      multiply<backend_of<decltype(slope)>>(
          tessera::detail::matrix_product<T>{.rows = rows,
                                             .columns = depth,
                                             .depth = columns,
                                             .a = {slope.data() + y, columns, 1},
                                             .b = {b.data() + w, 1, columns},
                                             .c = da + x,
                                             .c_row = depth,
                                             .adds = true});
    });
  if (auto* const db = tracing::place_memory<T>(places.template get<1>()))
    each([&](auto rows, auto columns, auto depth, auto x, auto w, auto y) {
      multiply<backend_of<decltype(slope)>>(
          tessera::detail::matrix_product<T>{.rows = depth,
                                             .columns = columns,
                                             .depth = rows,
                                             .a = {a.data() + x, 1, depth},
                                             .b = {slope.data() + y, columns, 1},
                                             .c = db + w,
                                             .c_row = columns,
                                             .adds = true});
    });
}

}  // namespace tessera::nodes
