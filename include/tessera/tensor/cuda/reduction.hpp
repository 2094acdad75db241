// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/cuda/assign.hpp>
#include <tessera/tensor/reduction.hpp>

#include <algorithm>

namespace tessera {

namespace detail {

/// Element k of the axes that Mask names, in row-major order, put into index.
template <axis_mask Mask, std::size_t Rank, std::size_t Leading>
TESSERA_DEVICE constexpr void set_index(std::array<std::size_t, Rank> const& extents,
                                        std::array<std::size_t, Leading>& index, std::size_t k) {
  for (auto a = Leading; a > 0; --a) {
    if (not has(Mask, a - 1)) continue;
    index[a - 1] = k % extents[a - 1];
    k /= extents[a - 1];
  }
}
/// The next element of those axes.
template <axis_mask Mask, std::size_t Rank, std::size_t Leading>
TESSERA_DEVICE constexpr void advance_index(std::array<std::size_t, Rank> const& extents,
                                            std::array<std::size_t, Leading>& index) {
  for (auto a = Leading; a > 0; --a) {
    if (not has(Mask, a - 1)) continue;
    if (++index[a - 1] < extents[a - 1]) return;
    index[a - 1] = 0;
  }
}
template <axis_mask Mask, std::size_t Rank>
[[nodiscard]] constexpr auto count_of(std::array<std::size_t, Rank> const& extents) -> std::size_t {
  auto n = std::size_t{1};
  for (auto a = std::size_t{0}; a + 1 < Rank; ++a)
    if (has(Mask, a)) n *= extents[a];
  return n;
}

/// A block for each result: thread l joins the elements l, l + 64, ... of every outer index, and
/// the lanes are folded by halves, in the order of `reference`.
template <class Join, class T, class Y, class E, class Axes> struct reduce_along_rows {
  static constexpr std::size_t threads = reduction_lanes;
  struct shared {
    T at[threads];
  };
  using registers = device::empty;

  T* out;
  E e;
  std::array<std::size_t, shape_of<E>::rank> extents;
  std::size_t outer;
  std::size_t trailing;

  [[nodiscard]] TESSERA_DEVICE static constexpr auto phases() -> std::size_t { return 8; }
  TESSERA_DEVICE void run(std::size_t phase, std::size_t block, std::size_t thread, shared& s,
                          registers&) const {
    auto const n = extents[extents.size() - 1];
    if (phase == 0) {
      auto index = leading_index<shape_of<E>::rank>{};
      set_index<Axes::kept>(extents, index, block);
      auto joined = Join::template neutral<T>();
      for (auto o = std::size_t{0}; o < outer; ++o) {
        set_index<Axes::outer>(extents, index, o);
        for (auto k = thread; k < trailing * n; k += threads) {
          set_index<Axes::trailing>(extents, index, k / n);
          joined = Join::join(joined, e.row(index).get(one_lane{}, k % n));
        }
      }
      s.at[thread] = joined;
    } else if (phase < 7) {
      // As reductions::lanes::total: lanes that nothing went to are not folded.
      auto const used = trailing * n < threads ? trailing * n : threads;
      auto const half = threads >> phase;
      if (half < used && thread < half)
        s.at[thread] = Join::join(s.at[thread], s.at[thread + half]);
    } else if (thread == 0) {
      one_lane::store(out + block, s.at[0]);
    }
  }
};

/// Where the last axis is kept: joins the outer indices first .. end - 1 of result i to `joined`.
template <class Join, class T, class E, class Axes> struct columns_of_expression {
  E e;
  std::array<std::size_t, shape_of<E>::rank> extents;

  [[nodiscard]] TESSERA_DEVICE auto join(T joined, std::size_t i, std::size_t first,
                                         std::size_t end) const -> T {
    auto const n = extents[extents.size() - 1];
    auto index = leading_index<shape_of<E>::rank>{};
    auto const k = i % n;
    set_index<Axes::kept>(extents, index, i / n);
    set_index<Axes::outer>(extents, index, first);
    for (auto o = first; o < end; ++o) {
      joined = Join::join(joined, e.row(index).get(one_lane{}, k));
      advance_index<Axes::outer>(extents, index);
    }
    return joined;
  }
};
/// The same of rows in memory.
template <class Join, class T> struct columns_of_rows {
  T const* rows;
  std::size_t width;

  [[nodiscard]] TESSERA_DEVICE auto join(T joined, std::size_t i, std::size_t first,
                                         std::size_t end) const -> T {
    for (auto r = first; r < end; ++r) joined = Join::join(joined, rows[r * width + i]);
    return joined;
  }
};
/// A thread for each result and part of the outer indices.
template <class Join, class T, class Columns> struct join_columns_body {
  Columns columns;
  T* out;  ///< (parts, results)
  std::size_t results;
  std::size_t outer;
  std::size_t each;  ///< outer indices of a part
  bool adds;         ///< to what is in `out`

  TESSERA_DEVICE void operator()(std::size_t at) const {
    auto const first = at / results * each;
    auto const end = first + each < outer ? first + each : outer;
    auto const start = adds ? out[at] : Join::template neutral<T>();
    one_lane::store(out + at, columns.join(start, at % results, first, end));
  }
};
inline namespace TESSERA_DEVICE_TARGET {

/// Columns of more than 128 outer indices are cut into parts of at least 16, joined in their order;
/// of so many columns that parts of them do not fit, each is joined by one thread.
template <class Join, class T, class Columns>
void join_columns(Columns const& columns, std::size_t results, std::size_t outer, T* out,
                  bool adds) {
  using body = join_columns_body<Join, T, Columns>;
  constexpr auto most_bytes = device::queue::scratch_bytes / 4;
  auto const fits = std::min(most_bytes / (results * sizeof(T) + 1), std::size_t{4096});
  if (outer <= 128 || fits < 2)
    return device::for_each(results, body{columns, out, results, outer, outer, adds});
  auto const each = std::max((outer + fits - 1) / fits, std::size_t{16});
  auto const parts = (outer + each - 1) / each;
  auto const of_parts = device::scratch<T>(parts * results);
  device::for_each(parts * results, body{columns, of_parts.data(), results, outer, each, false});
  join_columns<Join>(columns_of_rows<Join, T>{of_parts.data(), results}, results, parts, out, adds);
}

}  // namespace TESSERA_DEVICE_TARGET

}  // namespace detail

template <class Join> struct kernel_for<detail::reduce_fn<Join>, cuda> {
  template <std::ptrdiff_t... Axes, class Y, class E>
  static void run(axis_list<Axes...>, Y y, E const& e) {
    using S = shape_of<E>;
    using T = compute_of<scalar_of<E>>;
    using axes = detail::reduction_axes<S, Axes...>;
    if constexpr (S::rank == 0) {
      kernel_for<detail::assign_fn, cuda>::run(y, e);
    } else {
      auto const actual = actual_extents<S>(e.extents());
      auto const extents = actual.full();
      auto const kept = detail::count_of<axes::kept>(extents);
      auto const outer = detail::count_of<axes::outer>(extents);
      if constexpr (axes::along_row)
        device::current().launch(
            detail::reduce_along_rows<Join, T, Y, E, axes>{
                y.data(), e, extents, outer, detail::count_of<axes::trailing>(extents)},
            kept);
      else
        detail::join_columns<Join>(detail::columns_of_expression<Join, T, E, axes>{e, extents},
                                   kept * extents[S::rank - 1], outer, y.data(), false);
    }
  }
};

}  // namespace tessera

namespace tessera::device::inline TESSERA_DEVICE_TARGET {

/// sums += the rows of dy (rows, width).
template <class T> void add_rows(std::size_t rows, std::size_t width, T const* dy, T* sums) {
  tessera::detail::join_columns<reductions::adds>(
      tessera::detail::columns_of_rows<reductions::adds, T>{dy, width}, width, rows, sums, true);
}

}  // namespace tessera::device::inline TESSERA_DEVICE_TARGET
