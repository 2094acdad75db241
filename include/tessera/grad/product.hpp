// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/grad/trace.hpp>
#include <tessera/ops/matmul.hpp>

/// The derivatives of a matrix product: da += dy·bᵀ, db += aᵀ·dy.
namespace tessera::node {

template <class A, class B, class PlaceA, class PlaceB>
constexpr void pull_operation(matrix_product, auto const&, auto const& slope,
                              grad::operands<A, B> const& of,
                              grad::operands<PlaceA, PlaceB> const& places) {
  using T = scalar_of<decltype(slope)>;
  using kernel_type = kernel<tessera::detail::matmul_fn, backend_of<decltype(slope)>>;
  auto const& a = of.template get<0>();
  auto const& b = of.template get<1>();
  auto const each = [&](auto&& f) { matrix_product::for_each_matrix<A, B>(f); };
  if (auto* const da = grad::place_memory<T>(places.template get<0>()))
    each([&](auto rows, auto columns, auto depth, auto x, auto w, auto y) {
      kernel_type::left(rows, columns, depth, slope.data() + y, b.data() + w, da + x);
    });
  if (auto* const db = grad::place_memory<T>(places.template get<1>()))
    each([&](auto rows, auto columns, auto depth, auto x, auto w, auto y) {
      kernel_type::right(rows, columns, depth, a.data() + x, slope.data() + y, db + w);
    });
}

}  // namespace tessera::node
