// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/assign.hpp>

/// Reverse mode through the type of an expression.
///
/// The tree that a forward-only function returns is the trace of what it did. Its backward pass
/// walks two trees that the one function made: forward(p, x), whose leaves are values, and
/// forward(gradient, dx), whose leaves are the places of their derivatives, with the same types but
/// for const. A place without memory is not wanted.
///
/// Cost      one pass over the elements for every fused group, which computes each value once, and
///           one kernel for every operation that is computed before the row pass
/// Accuracy  elements are added to a place in row-major order, one after another, on every backend
namespace tessera::tracing::inline TESSERA_TARGET {

/// The values along one path of a fused group: an operation's and, below it, its operands'.
template <class V, class... Operands> struct traced_value {
  V value;
  nodes::items<Operands...> operands;
};

// -- trace: the value of a row at i, with what led to it ------------------------------------------

template <class L, class Row>
[[nodiscard]] TESSERA_INLINE constexpr auto trace(Row const& row, L lanes, std::size_t i) {
  using V = decltype(row.get(lanes, i));
  return traced_value<V>{row.get(lanes, i), {}};
}
template <class L, class F, class... Rows>
[[nodiscard]] TESSERA_INLINE constexpr auto trace(nodes::map_row<F, Rows...> const& row, L lanes,
                                                  std::size_t i) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) TESSERA_INLINE {
    auto const operands = nodes::make_items(trace(nodes::item<I>(row.rows), lanes, i)...);
    auto const value = F::value(nodes::item<I>(operands).value...);
    return traced_value<std::remove_const_t<decltype(value)>,
                        std::remove_cvref_t<decltype(nodes::item<I>(operands))>...>{value,
                                                                                    operands};
  }(std::index_sequence_for<Rows...>{});
}

// -- places: what collects the derivatives of a row -----------------------------------------------

/// The place of an operand that repeats along a row: its derivative is the sum over the row.
template <class Place, class T> struct summed_place {
  Place place;
  T sum{};
};
template <class F, class... Places> struct map_place {
  nodes::items<Places...> places;
};

template <class F, class... Rows>
[[nodiscard]] constexpr auto place_of(nodes::map_row<F, Rows...> const& row);
template <class Row> [[nodiscard]] constexpr auto place_of(Row const& row) { return row; }
template <class Row, class T>
[[nodiscard]] constexpr auto place_of(nodes::repeated_row<Row, T> const& row) {
  auto const place = place_of(row.row);
  return summed_place<std::remove_const_t<decltype(place)>, T>{place};
}
template <class F, class... Rows>
[[nodiscard]] constexpr auto place_of(nodes::map_row<F, Rows...> const& row) {
  return [&]<std::size_t... I>(std::index_sequence<I...>) {
    return map_place<F, std::remove_cvref_t<decltype(place_of(nodes::item<I>(row.rows)))>...>{
        nodes::make_items(place_of(nodes::item<I>(row.rows))...)};
  }(std::index_sequence_for<Rows...>{});
}

// -- pull: adds d times the slope to the places ---------------------------------------------------

template <class F, class... Rows, class... Places, class L, class V>
TESSERA_INLINE constexpr void pull(nodes::map_row<F, Rows...> const& row,
                                   map_place<F, Places...>& place, L lanes, std::size_t i,
                                   auto const& traced, V d);

template <class T, bool Wanted, class L, class V>
TESSERA_INLINE constexpr void pull(auto const&, nodes::contiguous_row<T, Wanted>& place, L lanes,
                                   std::size_t i, auto const&, V d) {
  if constexpr (Wanted) {
    if (place.data == nullptr) return;
    // A place is never const; only the name under which the function saw it was.
    auto* const at = const_cast<std::remove_const_t<T>*>(place.data + i);
    lanes.store(at, lanes.load(at) + d);
  }
}
template <class T, class L, class V>
TESSERA_INLINE constexpr void pull(auto const&, nodes::strided_row<T>& place, L lanes,
                                   std::size_t i, auto const&, V d) {
  if (place.data == nullptr) return;
  for (auto k = std::size_t{0}; k < lanes.count(); ++k) {
    auto* const at = const_cast<std::remove_const_t<T>*>(
        place.data + static_cast<std::ptrdiff_t>(i + k) * place.stride);
    one_lane::store(at, one_lane::load(at) + lanes.at(d, k));
  }
}
template <class T, class L, class V>
TESSERA_INLINE constexpr void pull(auto const&, nodes::constant_row<T>&, L, std::size_t,
                                   auto const&, V) {}
template <class Place, class T, class L, class V>
TESSERA_INLINE constexpr void pull(auto const&, summed_place<Place, T>& place, L lanes, std::size_t,
                                   auto const&, V d) {
  for (auto k = std::size_t{0}; k < lanes.count(); ++k) place.sum += lanes.at(d, k);
}
template <std::size_t J, class F, class... Rows, class... Places, class L, class V,
          std::size_t... I>
TESSERA_INLINE constexpr void pull_operand(nodes::map_row<F, Rows...> const& row,
                                           map_place<F, Places...>& place, L lanes, std::size_t i,
                                           auto const& traced, V d, std::index_sequence<I...>) {
  // An integer or a truth has no slope.
  if constexpr (op::has_slope<F, J> &&
                std::is_floating_point_v<
                    std::remove_cvref_t<decltype(nodes::item<J>(traced.operands).value)>>)
    pull(nodes::item<J>(row.rows), nodes::item<J>(place.places), lanes, i,
         nodes::item<J>(traced.operands),
         op::times_slope<F, J>(d, traced.value, nodes::item<I>(traced.operands).value...));
}
template <class F, class... Rows, class... Places, class L, class V>
TESSERA_INLINE constexpr void pull(nodes::map_row<F, Rows...> const& row,
                                   map_place<F, Places...>& place, L lanes, std::size_t i,
                                   auto const& traced, V d) {
  [&]<std::size_t... I>(std::index_sequence<I...> all) TESSERA_INLINE {
    (pull_operand<I>(row, place, lanes, i, traced, d, all), ...);
  }(std::index_sequence_for<Rows...>{});
}

// -- flush: at the end of a row, what its sums collected ------------------------------------------

constexpr void flush(auto const&, auto&) {}
template <class F, class... Rows, class... Places>
constexpr void flush(nodes::map_row<F, Rows...> const& row, map_place<F, Places...>& place);
template <class Row, class T, class Place>
constexpr void flush(nodes::repeated_row<Row, T> const& row, summed_place<Place, T>& place) {
  pull(row.row, place.place, one_lane{}, 0, trace(row.row, one_lane{}, 0), place.sum);
  flush(row.row, place.place);
  place.sum = T{};
}
template <class F, class... Rows, class... Places>
constexpr void flush(nodes::map_row<F, Rows...> const& row, map_place<F, Places...>& place) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (flush(nodes::item<I>(row.rows), nodes::item<I>(place.places)), ...);
  }(std::index_sequence_for<Rows...>{});
}

}  // namespace tessera::tracing::inline TESSERA_TARGET

namespace tessera {

namespace detail {

/// Adds d times the slope of e to the places of `place`, over all elements of e.
struct pull_fn {};

}  // namespace detail

template <> struct kernel_for<detail::pull_fn, reference> {
  template <class S, class E, class Place, class D>
  static constexpr void run(actual_extents<S> const& actual, E const& e, Place const& to,
                            D const& d) {
    if constexpr (E::flat && D::flat && std::same_as<shape_of<E>, S> &&
                  (std::same_as<shape_of<D>, S> || shape_of<D>::rank == 0)) {
      row(actual.size(), e.flat_row(), to.flat_row(), nodes::detail::operand_flat_row<S>(d));
    } else {
      auto const n = detail::row_length(actual);
      detail::for_each_row(actual, [&](auto const& index) {
        row(n, nodes::detail::operand_row<S>(e, index), nodes::detail::operand_row<S>(to, index),
            nodes::detail::operand_row<S>(d, index));
      });
    }
  }

 private:
  static constexpr void row(std::size_t n, auto const& e, auto const& to, auto const& d) {
    auto place = tracing::place_of(to);
    for (auto i = std::size_t{0}; i < n; ++i)
      tracing::pull(e, place, one_lane{}, i, tracing::trace(e, one_lane{}, i),
                    d.get(one_lane{}, i));
    tracing::flush(e, place);
  }
};
template <> struct kernel_for<detail::pull_fn, simd> : kernel_for<detail::pull_fn, reference> {};

namespace tracing::inline TESSERA_TARGET {

/// Adds to the places of `to` what d (of a shape that repeats to that of e) is worth there.
template <class E, class Place, class D>
constexpr void pull_elements(E const& e, Place const& to, D const& d) {
  using S = shape_of<E>;
  kernel_for<tessera::detail::pull_fn, backend_of<E>>::run(actual_extents<S>(e.extents()), e, to,
                                                           d);
}

/// The operands of an operation, by reference.
template <class... A> struct operands {
  nodes::items<A const*...> at;
  constexpr explicit operands(A const&... a) : at{nodes::make_items(&a...)} {}
  template <std::size_t I> [[nodiscard]] constexpr auto get() const -> auto const& {
    return *nodes::item<I>(at);
  }
};

// -- reverse: the operations that are computed before the row pass, last one first ----------------

template <class E, class Place> constexpr void reverse(E const&, Place const&) {}
template <class A, class B, class S, bool U>
constexpr void reverse(nodes::arranged<A, S, U> const& e, nodes::arranged<B, S, U> const& place);
template <class Op, class... A, class... B>
constexpr void reverse(nodes::result<Op, A...> const& e, nodes::result<Op, B...> const& place);

template <class F, class... A, class... B>
constexpr void reverse(nodes::map<F, A...> const& e, nodes::map<F, B...> const& place) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    constexpr auto last = sizeof...(A) - 1;
    (reverse(e.template arg<last - I>(), place.template arg<last - I>()), ...);
  }(std::index_sequence_for<A...>{});
}
template <class A, class B, class S, bool U>
constexpr void reverse(nodes::arranged<A, S, U> const& e, nodes::arranged<B, S, U> const& place) {
  reverse(e.arg, place.arg);
}
template <class Op, class... A, class... B>
constexpr void reverse(nodes::result<Op, A...> const& e, nodes::result<Op, B...> const& place) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    // Found beside Op, in namespace nodes: what an operation is worth to its operands.
    pull_operation(Op{}, e.as_leaf(), place.as_leaf(), operands<A...>{e.template arg<I>()...},
                   operands<B...>{place.template arg<I>()...});
    constexpr auto last = sizeof...(A) - 1;
    (reverse(e.template arg<last - I>(), place.template arg<last - I>()), ...);
  }(std::index_sequence_for<A...>{});
}

// -- clear: the memory of the derivatives, before anything is added -------------------------------

template <class E> constexpr void clear(E const&) {}
template <class A, class S, bool U> constexpr void clear(nodes::arranged<A, S, U> const& place);
template <class Op, class... A> constexpr void clear(nodes::result<Op, A...> const& place);
template <class F, class... A> constexpr void clear(nodes::map<F, A...> const& place) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (clear(place.template arg<I>()), ...);
  }(std::index_sequence_for<A...>{});
}
template <class A, class S, bool U> constexpr void clear(nodes::arranged<A, S, U> const& place) {
  clear(place.arg);
}
template <class Op, class... A> constexpr void clear(nodes::result<Op, A...> const& place) {
  tessera::assign(place.as_view(), 0);
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (clear(place.template arg<I>()), ...);
  }(std::index_sequence_for<A...>{});
}

/// The backward pass of y = e: `e` is bound to the values that its forward pass left, `place` to
/// memory of the same type for their derivatives, which is cleared first.
template <class E, class Place, class Dy>
constexpr void pull_back(E const& e, Place const& place, Dy const& dy) {
  clear(place);
  if constexpr (nodes::is_result<E>) {
    tessera::assign(place.as_view(), dy);
  } else {
    pull_elements(
        e, place,
        nodes::leaf<scalar_of<Dy> const, shape_of<Dy>, backend_of<Dy>>{{}, dy, dy.data()});
  }
  reverse(e, place);
}

}  // namespace tracing::inline TESSERA_TARGET

}  // namespace tessera
