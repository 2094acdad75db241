// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/accumulate.hpp>

#include <cstdint>

namespace tessera {

namespace detail {

template <class Join> struct reduce_fn {};

/// Some of the leading axes of a shape, one bit for each.
using axis_mask = std::uint32_t;
[[nodiscard]] constexpr auto has(axis_mask mask, std::size_t a) -> bool {
  return (mask >> a & 1U) != 0;
}

/// Visits the axes of `index` that Mask names, in row-major order, the others as they are.
template <axis_mask Mask, std::size_t Rank, std::size_t Leading>
constexpr void for_each_index(std::array<std::size_t, Rank> const& extents,
                              std::array<std::size_t, Leading>& index, auto&& f) {
  for (auto a = std::size_t{0}; a < Leading; ++a) {
    if (has(Mask, a)) {
      index[a] = 0;
      if (extents[a] == 0) return;
    }
  }
  for (;;) {
    f();
    auto a = Leading;
    for (;;) {
      if (a == 0) return;
      --a;
      if (not has(Mask, a)) continue;
      if (++index[a] < extents[a]) break;
      index[a] = 0;
    }
  }
}

/// The axes of a reduction, apart from the last one: kept, trailing (next to a reduced last axis)
/// and outer ones.
template <class S, std::ptrdiff_t... Axes> struct reduction_axes {
  static constexpr auto leading = S::rank == 0 ? 0 : S::rank - 1;
  static constexpr auto taken = [] {
    auto mask = axis_mask{0};
    for (auto a = std::size_t{0}; a < S::rank; ++a)
      if (reduced_axes<S, Axes...>[a]) mask |= axis_mask{1} << a;
    return mask;
  }();
  static constexpr bool along_row = S::rank > 0 && has(taken, S::rank - 1);
  static constexpr auto leading_mask = (axis_mask{1} << leading) - 1;
  static constexpr auto trailing = [] {
    auto mask = axis_mask{0};
    if (along_row)
      for (auto a = leading; a > 0 && has(taken, a - 1); --a) mask |= axis_mask{1} << (a - 1);
    return mask;
  }();
  static constexpr axis_mask outer = taken & ~trailing & leading_mask;
  static constexpr axis_mask kept = ~taken & leading_mask;
  static constexpr bool rows_alone = along_row && outer == 0 && trailing == 0;
};

}  // namespace detail

template <class Join> struct kernel_for<detail::reduce_fn<Join>, reference> {
  /// The elements of e by y's index; y is contiguous, with the axes of e that are left.
  template <std::ptrdiff_t... Axes, class Y, class E>
  static constexpr void run(axis_list<Axes...>, Y y, E const& e) {
    run_rows<Axes...>(y, e, passes<compute_of<scalar_of<E>>>{});
  }

  /// `passes` has total(row, n) of a row that is alone; add(lanes, row, n) and total(lanes) where
  /// rows follow one another; join(out, row, n), which adds a row to n sums.
  template <std::ptrdiff_t... Axes, class Y, class E>
  static constexpr void run_rows(Y y, E const& e, auto const& passes) {
    using S = shape_of<E>;
    using T = compute_of<scalar_of<E>>;
    using axes = detail::reduction_axes<S, Axes...>;
    auto const actual = actual_extents<S>(e.extents());
    auto const extents = actual.full();
    auto const n = detail::row_length(actual);
    auto index = leading_index<S::rank>{};
    auto* out = y.data();
    detail::for_each_index<axes::kept>(extents, index, [&] {
      if constexpr (S::rank == 0) {
        one_lane::store(out, e.row(index).get(one_lane{}, 0));
      } else if constexpr (axes::rows_alone) {
        one_lane::store(out++, passes.total(e.row(index), n));
      } else if constexpr (axes::along_row) {
        auto lanes = reductions::lanes<Join, T>{};
        detail::for_each_index<axes::outer>(extents, index, [&] {
          lanes.filled = 0;
          detail::for_each_index<axes::trailing>(extents, index,
                                                 [&] { passes.add(lanes, e.row(index), n); });
        });
        one_lane::store(out++, passes.total(lanes));
      } else {
        for (auto i = std::size_t{0}; i < n; ++i)
          one_lane::store(out + i, Join::template neutral<T>());
        detail::for_each_index<axes::outer>(extents, index,
                                            [&] { passes.join(out, e.row(index), n); });
        out += n;
      }
    });
  }

 private:
  template <class T> struct passes {
    static constexpr auto total(auto const& row, std::size_t n) -> T {
      auto lanes = reductions::lanes<Join, T>{};
      add(lanes, row, n);
      return lanes.total();
    }
    static constexpr auto total(reductions::lanes<Join, T>& lanes) -> T { return lanes.total(); }
    static constexpr void add(reductions::lanes<Join, T>& lanes, auto const& row, std::size_t n) {
      for (auto i = std::size_t{0}; i < n; ++i) lanes.add(row.get(one_lane{}, i));
    }
    static constexpr void join(auto* out, auto const& row, std::size_t n) {
      for (auto i = std::size_t{0}; i < n; ++i)
        one_lane::store(out + i, Join::join(one_lane::load(out + i), row.get(one_lane{}, i)));
    }
  };
};

template <> struct kernel_for<detail::softmax_fn, reference> {
  template <class Y, class E> static constexpr void run(Y y, E const& x) {
    auto const n = detail::row_length(y.actual);
    detail::for_each_row(y.actual, [&](auto const& index) {
      row(n, nodes::detail::operand_row<shape_of<Y>>(x, index),
          detail::destination_row(y, index).data);
    });
  }

 private:
  template <class T> static constexpr void row(std::size_t n, auto const& x, T* y) {
    auto largest = reductions::lanes<reductions::takes_larger, T>{};
    for (auto i = std::size_t{0}; i < n; ++i) largest.add(x.get(one_lane{}, i));
    auto const most = largest.total();
    auto exponentials = reductions::lanes<reductions::adds, T>{};
    for (auto i = std::size_t{0}; i < n; ++i) {
      y[i] = lane::exp(x.get(one_lane{}, i) - most);
      exponentials.add(y[i]);
    }
    auto const total = exponentials.total();
    for (auto i = std::size_t{0}; i < n; ++i) y[i] = y[i] / total;
  }
};

}  // namespace tessera
