// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/grad/trace.hpp>
#include <tessera/tensor/cuda/assign.hpp>

#include <vector>

/// Slopes of expressions on the device: a thread adds to places that no other thread adds to, in
/// the order of `reference`.
///
/// Cost  a thread for each element where every place belongs to one; for each column where places
///       repeat from row to row, for each row where they repeat along it, both where a tree has
///       both. Places that two operands share in part (shifted slices), strided ones and single
///       numbers are one thread's work.
namespace tessera {

namespace detail {

/// Where the slopes of one operand go, and whether each column and each row has its own.
struct place_range {
  void const* first;
  void const* last;
  bool of_column;
  bool of_row;
  friend auto operator==(place_range const&, place_range const&) -> bool = default;
};
/// The places of a tree over elements of shape S.
template <class S> class places_of_tree {
 public:
  template <class Place> explicit places_of_tree(Place const& place) { note(place); }

  /// True where two threads that do not share a column or a row never add to one number.
  [[nodiscard]] auto are_apart() const -> bool {
    if (has_others_) return false;
    for (auto const& a : ranges_)
      for (auto const& b : ranges_)
        if (not(a == b) && written_memory{a.first, a.last}.overlaps(b.first, b.last)) return false;
    return true;
  }
  [[nodiscard]] auto all(auto const& f) const -> bool {
    for (auto const& range : ranges_)
      if (not f(range)) return false;
    return true;
  }

 private:
  template <class F, class... A> void note(nodes::map<F, A...> const& place) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (note(place.template arg<I>()), ...);
    }(std::index_sequence_for<A...>{});
  }
  template <class T, class Q, class B> void note(nodes::leaf<T, Q, B> const& place) {
    if (place.memory == nullptr) return;
    auto const rows_agree = [] {
      if (Q::rank != S::rank) return false;
      for (auto a = std::size_t{0}; a + 1 < S::rank; ++a)
        if (Q::extents[a] != S::extents[a]) return false;
      return true;
    };
    constexpr auto has_columns = [] {
      if constexpr (S::rank == 0)
        return true;
      else if constexpr (Q::rank == 0)
        return false;
      else
        return Q::extents[Q::rank - 1] == S::extents[S::rank - 1];
    }();
    ranges_.push_back(
        {place.memory, place.memory + place.actual.size(), has_columns, rows_agree()});
  }
  template <class Op, class... A> void note(nodes::result<Op, A...> const& place) {
    note(place.as_leaf());
  }
  template <class T> void note(nodes::constant<T> const&) {}
  template <class X> void note(nodes::owned_leaf<X> const&) {}
  void note(auto const&) { has_others_ = true; }

  std::vector<place_range> ranges_;
  bool has_others_ = false;
};

/// Forgets the places that have a number for each column.
template <class Row> TESSERA_DEVICE constexpr void forget_columns(Row& place) {
  if constexpr (requires { place.data; }) place.data = nullptr;
}
template <class Place, class T>
TESSERA_DEVICE constexpr void forget_columns(tracing::summed_place<Place, T>&) {}
template <class F, class... Places>
TESSERA_DEVICE constexpr void forget_columns(tracing::map_place<F, Places...>& place) {
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (forget_columns(nodes::item<I>(place.places)), ...);
  }(std::index_sequence_for<Places...>{});
}

/// Thread i pulls the rows i / columns·rows_each .. and the columns from i % columns·columns_each.
template <class S, class E, class Place, class D> struct pull_part {
  actual_extents<S> actual;
  E e;
  Place to;
  D d;
  std::size_t rows_each;
  std::size_t columns_each;
  std::size_t columns;  ///< parts of a row
  bool of_columns;      ///< adds to the places that have a number for each column
  bool along_rows;      ///< and to those that repeat along a row

  TESSERA_DEVICE void operator()(std::size_t i) const {
    auto const n = row_length(actual);
    auto const first = i % columns * columns_each;
    for (auto r = i / columns * rows_each, end = r + rows_each; r < end; ++r) {
      auto const index = place_of_element<S>(actual, r * n).leading;
      auto const row = nodes::detail::operand_row<S>(e, index);
      auto const slopes = nodes::detail::operand_row<S>(d, index);
      auto place = tracing::place_of(nodes::detail::operand_row<S>(to, index));
      if (not of_columns) forget_columns(place);
      for (auto k = first; k < first + columns_each; ++k)
        tracing::pull(row, place, one_lane{}, k, tracing::trace(row, one_lane{}, k),
                      slopes.get(one_lane{}, k));
      if (along_rows) tracing::flush(row, place);
    }
  }
};

}  // namespace detail

template <> struct kernel_for<detail::pull_fn, cuda> {
  template <class S, class E, class Place, class D>
  static void run(actual_extents<S> const& actual, E const& e, Place const& to, D const& d) {
    auto const n = detail::row_length(actual);
    if (actual.size() == 0) return;
    auto const rows = actual.size() / n;
    auto const launch = [&](bool split_rows, bool split_columns, bool of_columns, bool along_rows) {
      auto const part = detail::pull_part<S, E, Place, D>{actual,
                                                          e,
                                                          to,
                                                          d,
                                                          split_rows ? 1 : rows,
                                                          split_columns ? 1 : n,
                                                          split_columns ? n : 1,
                                                          of_columns,
                                                          along_rows};
      device::for_each((split_rows ? rows : 1) * (split_columns ? n : 1), part);
    };
    auto const places = detail::places_of_tree<S>(to);
    auto const none_repeats = places.all([](auto const& p) { return p.of_column; });
    auto const rows_have_own = places.all([](auto const& p) { return p.of_row; });
    if (not places.are_apart()) return launch(false, false, true, true);
    if (none_repeats) return launch(rows_have_own, true, true, true);
    if (rows_have_own) return launch(true, false, true, true);
    launch(false, true, true, false);
    launch(places.all([](auto const& p) { return p.of_column || p.of_row; }), false, false, true);
  }
};

}  // namespace tessera
