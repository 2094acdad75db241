// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/grad/trace.hpp>
#include <tessera/tensor/reduction.hpp>

/// The derivatives of reductions.
namespace tessera {

namespace detail {

/// kernel_for<pull_extremum_fn, Backend>::run(axes, e, to, value, slope): adds to the places of e's
/// extrema, whose values and slopes have the axes of e.
struct pull_extremum_fn {};

}  // namespace detail

/// The elements that reach the extremum share its slope equally, as torch.amax.
template <> struct kernel_for<detail::pull_extremum_fn, reference> {
  template <std::ptrdiff_t... Axes, class E>
  static constexpr void run(axis_list<Axes...>, E const& e, auto const& to, auto const& value,
                            auto const& slope) {
    using S = shape_of<E>;
    static_assert(S::rank > 0, "max: a number has no axis");
    using axes = detail::reduction_axes<S, Axes...>;
    using T = scalar_of<decltype(value)>;
    auto const n = detail::row_length(actual_extents<S>(e.extents()));
    auto const extents = e.extents().full();
    auto index = leading_index<S::rank>{};
    detail::for_each_index<axes::kept>(extents, index, [&] {
      auto const columns = axes::along_row ? std::size_t{1} : n;
      for (auto column = std::size_t{0}; column < columns; ++column) {
        auto const first = axes::along_row ? std::size_t{0} : column;
        auto const last = axes::along_row ? n : column + 1;
        auto const visit = [&](auto const& f) {
          detail::for_each_index<(axes::outer | axes::trailing)>(extents, index, [&] {
            auto const row = e.row(index);
            auto const best = nodes::detail::operand_row<S>(value, index);
            for (auto i = first; i < last; ++i)
              if (row.get(one_lane{}, i) == best.get(one_lane{}, i)) f(row, i);
          });
        };
        auto count = T{0};
        visit([&](auto const&, std::size_t) { count += 1; });
        visit([&](auto const& row, std::size_t i) {
          auto place = tracing::place_of(nodes::detail::operand_row<S>(to, index));
          auto const d = nodes::detail::operand_row<S>(slope, index).get(one_lane{}, i) / count;
          tracing::pull(row, place, one_lane{}, i, tracing::trace(row, one_lane{}, i), d);
          tracing::flush(row, place);
        });
      }
    });
  }
};
template <>
struct kernel_for<detail::pull_extremum_fn, simd>
    : kernel_for<detail::pull_extremum_fn, reference> {};

}  // namespace tessera

namespace tessera::nodes {

/// Of a sum, every element gets the whole slope.
template <class Join, bool Keep, std::ptrdiff_t... Axes, class E, class Place>
constexpr void pull_operation(reduction<Join, Keep, Axes...>, auto const& value, auto const& slope,
                              tracing::operands<E> const& of,
                              tracing::operands<Place> const& places) {
  using kept = reduced<shape_of<E>, true, Axes...>;
  auto const& e = of.template get<0>();
  auto const actual = tessera::detail::reduced_extents<shape_of<E>, true, Axes...>(e.extents());
  auto const as_kept = [&](auto const& x) {
    auto kept_x = leaf<scalar_of<decltype(x)> const, kept, backend_of<E>>{{}, {}, x.memory};
    if constexpr (kept::bounded > 0) kept_x.actual = actual;
    return kept_x;
  };
  if constexpr (std::same_as<Join, reductions::adds>)
    tracing::pull_elements(e, places.template get<0>(), as_kept(slope));
  else
    kernel_for<tessera::detail::pull_extremum_fn, backend_of<E>>::run(
        axis_list<Axes...>{}, e, places.template get<0>(), as_kept(value), as_kept(slope));
}

/// Of a value, the expression that it was computed from gets the slope.
template <class E, class Place>
constexpr void pull_operation(value_of, auto const&, auto const& slope,
                              tracing::operands<E> const& of,
                              tracing::operands<Place> const& places) {
  tracing::pull_elements(of.template get<0>(), places.template get<0>(), slope);
}

}  // namespace tessera::nodes
