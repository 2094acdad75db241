// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/elementwise.hpp>
#include <tessera/tensor/slicing.hpp>

namespace tessera {

namespace detail {

/// y = e for a tree whose temporaries are computed: one pass over the rows of y.
struct assign_fn {};

/// Visits the leading indices of a shape in order.
template <class S> constexpr void for_each_row(actual_extents<S> const& actual, auto&& f) {
  auto index = leading_index<S::rank>{};
  if constexpr (S::rank <= 1) {
    f(index);
  } else {
    if (actual.size() == 0) return;
    for (;;) {
      f(index);
      auto a = S::rank - 1;
      for (;;) {
        if (a-- == 0) return;
        if (++index[a] < actual[a]) break;
        index[a] = 0;
      }
    }
  }
}

template <class S>
[[nodiscard]] constexpr auto row_length(actual_extents<S> const& actual) -> std::size_t {
  if constexpr (S::rank == 0)
    return 1;
  else
    return actual[S::rank - 1];
}

/// True where both sides are single runs of elements in the same order.
template <class Y, class E>
inline constexpr bool one_run =
    contiguous<Y> && E::flat && (shape_of<E>::rank == 0 || std::same_as<shape_of<E>, shape_of<Y>>);

/// Where a row of y is written.
template <class Y>
[[nodiscard]] constexpr auto destination_row(Y const& y,
                                             leading_index<shape_of<Y>::rank> const& index) {
  using T = typename Y::scalar_type;
  using S = shape_of<Y>;
  if constexpr (contiguous<Y>)
    return nodes::leaf<T, S, backend_of<Y>>{{}, y, y.memory}.row(index);
  else
    return nodes::strided_leaf<T, S, backend_of<Y>, unit_last<Y>>{{}, y, y.memory, y.strides}.row(
        index);
}

}  // namespace detail

template <> struct kernel_for<detail::assign_fn, reference> {
  template <class Y, class E> static constexpr void run(Y y, E const& e) {
    if constexpr (detail::one_run<Y, E>) {
      auto const row = nodes::detail::operand_flat_row<shape_of<Y>>(e);
      auto const n = y.size();
      for (auto i = std::size_t{0}; i < n; ++i)
        one_lane::store(y.memory + i, row.get(one_lane{}, i));
    } else {
      auto const n = detail::row_length(y.actual);
      detail::for_each_row(y.actual, [&](auto const& index) {
        auto const from = nodes::detail::operand_row<shape_of<Y>>(e, index);
        auto const to = detail::destination_row(y, index);
        for (auto i = std::size_t{0}; i < n; ++i)
          one_lane::store(to.data + static_cast<std::ptrdiff_t>(i) * nodes::stride_of(to),
                          from.get(one_lane{}, i));
      });
    }
  }
};

}  // namespace tessera
