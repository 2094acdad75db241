// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/accumulate.hpp>

#include <cstdint>

/// Reductions along any axes, by NumPy's names: sum(x), mean(x, axis<1>), max(x, axis<-1>, keep).
///
/// Shapes    the axes named go away, or stay with extent 1 where `keep` is said; all of them where
///           none is named
/// Cost      one pass over x, which may be an expression: it is not stored
/// Accuracy  trailing axes are added in 64 interleaved lanes and folded by halves, other axes in
///           order: error about (n/64 + 6)·eps·sum|x|, the same bits on every host backend
namespace tessera {

/// Leaves reduced axes with extent 1.
struct keep_type {};
inline constexpr auto keep = keep_type{};

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
};

template <class S, bool Keep, std::ptrdiff_t... Axes>
[[nodiscard]] constexpr auto reduced_extents(actual_extents<S> const& actual) {
  using R = reduced<S, Keep, Axes...>;
  auto all = std::array<std::size_t, R::rank>{};
  for (auto a = std::size_t{0}, to = std::size_t{0}; a < S::rank; ++a) {
    if (not reduced_axes<S, Axes...>[a])
      all[to++] = actual[a];
    else if (Keep)
      all[to++] = 1;
  }
  return actual_extents<R>::from(all);
}

}  // namespace detail

template <class Join> struct kernel<detail::reduce_fn<Join>, reference> {
  /// The elements of e by y's index; y is contiguous, with the axes of e that are left.
  template <std::ptrdiff_t... Axes, class Y, class E>
  static constexpr void run(axis_list<Axes...>, Y y, E const& e) {
    run_rows<Axes...>(
        y, e,
        [](auto& lanes, auto const& row, std::size_t n) {
          for (auto i = std::size_t{0}; i < n; ++i) lanes.add(row.get(one_lane{}, i));
        },
        [](auto* out, auto const& row, std::size_t n) {
          for (auto i = std::size_t{0}; i < n; ++i)
            one_lane::store(out + i, Join::join(one_lane::load(out + i), row.get(one_lane{}, i)));
        });
  }

  /// `add` adds a row of n elements to lanes; `join` adds a row to n sums.
  template <std::ptrdiff_t... Axes, class Y, class E>
  static constexpr void run_rows(Y y, E const& e, auto const& add, auto const& join) {
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
      } else if constexpr (axes::along_row) {
        auto lanes = reduce::lanes<Join, T>{};
        detail::for_each_index<axes::outer>(extents, index, [&] {
          lanes.filled = 0;
          detail::for_each_index<axes::trailing>(extents, index,
                                                 [&] { add(lanes, e.row(index), n); });
        });
        one_lane::store(out++, lanes.total());
      } else {
        for (auto i = std::size_t{0}; i < n; ++i)
          one_lane::store(out + i, Join::template neutral<T>());
        detail::for_each_index<axes::outer>(extents, index, [&] { join(out, e.row(index), n); });
        out += n;
      }
    });
  }
};

namespace node {

/// A reduction as an operation of an expression.
template <class Join, bool Keep, std::ptrdiff_t... Axes> struct reduction {
  template <class E>
  using result =
      tensor<compute_of<scalar_of<E>>, reduced<shape_of<E>, Keep, Axes...>, backend_of<E>>;
  template <class E> static constexpr bool rows_apart = shape_of<E>::rank == 0 || not[] {
    if constexpr (shape_of<E>::rank == 0)
      return false;
    else
      return tessera::detail::reduced_axes<shape_of<E>, Axes...>[0];
  }
  ();
  template <class E> static constexpr auto extents(E const& e) {
    return tessera::detail::reduced_extents<shape_of<E>, Keep, Axes...>(e.extents());
  }
  template <class Y, class E> static constexpr void compute(Y y, E const& e) {
    kernel<tessera::detail::reduce_fn<Join>, backend_of<Y>>::run(axis_list<Axes...>{}, y, e);
  }
};

}  // namespace node

namespace detail {

template <class Join, bool Keep, std::ptrdiff_t... Axes, class X>
[[nodiscard]] constexpr auto reduce_by(X&& x) {
  auto const e = as_node<scalar_among<X>>(std::forward<X>(x));
  using E = std::remove_const_t<decltype(e)>;
  static_assert(error::holds<(has_axis<shape_of<E>>(Axes) && ...), shape_of<E>, axis_list<Axes...>>,
                "reduction: there is no such axis");
  return node::result<node::reduction<Join, Keep, Axes...>, E>{{}, {e}};
}

/// The number of elements that go into one of the result.
template <std::ptrdiff_t... Axes, class X> [[nodiscard]] constexpr auto reduced_count(X const& x) {
  using S = shape_of<X>;
  using T = scalar_among<X>;
  auto const actual = actual_extents<S>(extents_of(x));
  auto n = T{1};
  for (auto a = std::size_t{0}; a < S::rank; ++a)
    if (reduced_axes<S, Axes...>[a]) n *= static_cast<T>(actual[a]);
  return n;
}

}  // namespace detail

// clang-format off
template <array_operand X, std::ptrdiff_t... Axes>
[[nodiscard]] constexpr auto sum(X&& x, axis_list<Axes...> = {}) { return detail::reduce_by<reduce::adds, false, Axes...>(std::forward<X>(x)); }
template <array_operand X, std::ptrdiff_t... Axes>
[[nodiscard]] constexpr auto sum(X&& x, axis_list<Axes...>, keep_type) { return detail::reduce_by<reduce::adds, true, Axes...>(std::forward<X>(x)); }
template <array_operand X, std::ptrdiff_t... Axes>
[[nodiscard]] constexpr auto max(X&& x, axis_list<Axes...> = {}) { return detail::reduce_by<reduce::takes_larger, false, Axes...>(std::forward<X>(x)); }
template <array_operand X, std::ptrdiff_t... Axes>
[[nodiscard]] constexpr auto max(X&& x, axis_list<Axes...>, keep_type) { return detail::reduce_by<reduce::takes_larger, true, Axes...>(std::forward<X>(x)); }
template <array_operand X, std::ptrdiff_t... Axes>
[[nodiscard]] constexpr auto min(X&& x, axis_list<Axes...> = {}) { return detail::reduce_by<reduce::takes_smaller, false, Axes...>(std::forward<X>(x)); }
template <array_operand X, std::ptrdiff_t... Axes>
[[nodiscard]] constexpr auto min(X&& x, axis_list<Axes...>, keep_type) { return detail::reduce_by<reduce::takes_smaller, true, Axes...>(std::forward<X>(x)); }
// clang-format on

/// The sum divided by the number of elements.
template <array_operand X, std::ptrdiff_t... Axes, class... Keep>
[[nodiscard]] constexpr auto mean(X&& x, axis_list<Axes...> axes = {}, Keep... kept) {
  auto const n = detail::reduced_count<Axes...>(x);
  return sum(std::forward<X>(x), axes, kept...) / n;
}

/// The mean of the squared distances from the mean, by two passes; as NumPy, divided by n.
template <array_operand X, std::ptrdiff_t... Axes, class... Keep>
[[nodiscard]] constexpr auto variance(X&& x, axis_list<Axes...> axes = {}, Keep... kept) {
  return mean(square(x - mean(x, axes, keep)), axes, kept...);
}

/// The root of the sum of squares.
template <array_operand X, std::ptrdiff_t... Axes, class... Keep>
[[nodiscard]] constexpr auto norm(X&& x, axis_list<Axes...> axes = {}, Keep... kept) {
  return sqrt(sum(square(std::forward<X>(x)), axes, kept...));
}

/// log(sum(exp(x))), with the maximum taken out, so that nothing overflows.
template <array_operand X, std::ptrdiff_t... Axes, class... Keep>
[[nodiscard]] constexpr auto logsumexp(X&& x, axis_list<Axes...> axes = {}, Keep... kept) {
  return log(sum(exp(x - max(x, axes, keep)), axes, kept...)) + max(x, axes, kept...);
}

/// x - logsumexp(x): the logarithm of softmax.
template <array_operand X, std::ptrdiff_t... Axes>
[[nodiscard]] constexpr auto log_softmax(X&& x, axis_list<Axes...> axes) {
  return x - logsumexp(x, axes, keep);
}

/// exp(x) / sum(exp(x)) along the axes, as exp(log_softmax(x)): nothing overflows.
template <array_operand X, std::ptrdiff_t... Axes>
[[nodiscard]] constexpr auto softmax(X&& x, axis_list<Axes...> axes) {
  return exp(log_softmax(std::forward<X>(x), axes));
}

}  // namespace tessera
