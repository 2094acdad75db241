// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/tensor/reference/reduction.hpp>
#include <tessera/tensor/simd/assign.hpp>

namespace tessera {

namespace detail::inline TESSERA_TARGET {

/// v with neighbouring groups of Distance lanes exchanged.
template <std::size_t Distance, class T>
[[nodiscard]] TESSERA_INLINE inline auto exchanged(lane::pack<T> v) -> lane::pack<T> {
  constexpr auto single = sizeof(T) == 4;
  [[maybe_unused]] auto const x = v.value.data;
  using batch = decltype(v.value);
#if defined(__AVX512F__)
  constexpr auto lanes_128 = std::size_t{single ? 4 : 2};
  constexpr auto groups = Distance == 2 * lanes_128 ? 0x4E : 0xB1;
  constexpr auto inside = single ? (Distance == 2 ? 0x4E : 0xB1) : 0x55;
  if constexpr (single && Distance >= lanes_128)
    return batch(_mm512_maskz_shuffle_f32x4(0xFFFF, x, x, groups));
  else if constexpr (single)
    return batch(_mm512_maskz_permute_ps(0xFFFF, x, inside));
  else if constexpr (Distance >= lanes_128)
    return batch(_mm512_maskz_shuffle_f64x2(0xFF, x, x, groups));
  else
    return batch(_mm512_maskz_permute_pd(0xFF, x, inside));
#elif defined(__AVX__)
  if constexpr (single && Distance == 4)
    return batch(_mm256_permute2f128_ps(x, x, 1));
  else if constexpr (single)
    return batch(_mm256_permute_ps(x, Distance == 2 ? 0x4E : 0xB1));
  else if constexpr (Distance == 2)
    return batch(_mm256_permute2f128_pd(x, x, 1));
  else
    return batch(_mm256_permute_pd(x, 0x5));
#elif defined(__SSE2__)
  if constexpr (single)
    return batch(_mm_shuffle_ps(x, x, Distance == 2 ? 0x4E : 0xB1));
  else
    return batch(_mm_shuffle_pd(x, x, 1));
#else
  T from[lane::pack<T>::width];
  T to[lane::pack<T>::width];
  lane::store(from, v);
  for (auto i = std::size_t{0}; i < lane::pack<T>::width; ++i) to[i] = from[i ^ Distance];
  return lane::load(to);
#endif
}

template <class T>
inline constexpr std::size_t lane_vectors = reduction_lanes / whole_lanes<T>::width;

/// A join of numbers of which none is a NaN, where that has a shorter form.
template <class Join> struct join_of_numbers {
  template <class V> TESSERA_INLINE static auto join(V a, V b) -> V {
    return Join::join_number(a, b);
  }
};
template <class Join, class V>
concept joins_numbers_apart = requires(V v) { Join::join_number(v, v); };

/// Lane j with lane j + Distance, then by halves: the first lane is the whole.
template <class Join, std::size_t Distance, class T>
[[nodiscard]] TESSERA_INLINE inline auto folded_lanes(lane::pack<T> v) -> T {
  auto const half = Join::join(v, exchanged<Distance>(v));
  if constexpr (Distance > 1)
    return folded_lanes<Join, Distance / 2>(half);
  else
    return half.value.data[0];
}
template <class Join, class T, std::size_t Count>
[[nodiscard]] TESSERA_INLINE inline auto folded_vectors(lane::pack<T> (&sums)[Count]) -> T {
  lane::pack<T> half[Count / 2];
#pragma GCC unroll 8
  for (auto v = std::size_t{0}; v < Count / 2; ++v)
    half[v] = Join::join(sums[v], sums[v + Count / 2]);
  if constexpr (Count > 2)
    return folded_vectors<Join>(half);
  else
    return folded_lanes<Join, whole_lanes<T>::width / 2>(half[0]);
}
/// The 64 lanes of a reduction as one number.
template <class Join, class T, std::size_t Count>
[[nodiscard]] TESSERA_INLINE inline auto folded(lane::pack<T> (&sums)[Count]) -> T {
  if constexpr (joins_numbers_apart<Join, lane::pack<T>>) {
    auto numbers = lane::mask<T>(true);
#pragma GCC unroll 16
    for (auto const& sum : sums) numbers = numbers && sum == sum;
    if (xsimd::all(numbers.value)) return folded_vectors<join_of_numbers<Join>>(sums);
  }
  return folded_vectors<Join>(sums);
}

/// Adds whole turns of 64 elements to sums that `start` sets; returns how many it added.
///
/// Where a join has a shorter form for numbers that are no NaN, that one runs, and all is done
/// again where one was. Other joins read by `Lanes`.
template <class Join, class T, class Lanes = whole_lanes<T>, std::size_t Count>
[[nodiscard]] TESSERA_INLINE inline auto add_turns(lane::pack<T> (&sums)[Count], auto const& row,
                                                   std::size_t n, auto const& start)
    -> std::size_t {
  constexpr auto width = whole_lanes<T>::width;
  auto i = std::size_t{0};
  start();
  if constexpr (joins_numbers_apart<Join, lane::pack<T>>) {
    auto numbers = lane::mask<T>(true);
    for (; i + reduction_lanes <= n; i += reduction_lanes) {
#pragma GCC unroll 16
      for (auto v = std::size_t{0}; v < Count; ++v) {
        auto const x = row.get(whole_lanes<T>{}, i + v * width);
        sums[v] = Join::join_number(sums[v], x);
        numbers = numbers && x == x;
      }
    }
    if (xsimd::all(numbers.value)) return i;
    i = 0;
    start();
  }
  for (; i + reduction_lanes <= n; i += reduction_lanes)
#pragma GCC unroll 16
    for (auto v = std::size_t{0}; v < Count; ++v)
      sums[v] = Join::join(sums[v], row.get(Lanes{}, i + v * width));
  return i;
}

/// Adds `count` elements of a row from element i on, which all go to one vector of lanes.
template <class Join, class T>
TESSERA_INLINE inline void add_some(reductions::lanes<Join, T>& lanes, auto const& row,
                                    std::size_t i, std::size_t count) {
  auto* const at = lanes.at + lanes.filled;
  auto const some = first_lanes<T>{count};
  some.store(at, Join::join(some.load(at), row.get(some, i)));
  lanes.filled = (lanes.filled + count) % reduction_lanes;
  lanes.used = lanes.used + count < reduction_lanes ? lanes.used + count : reduction_lanes;
}

/// Adds elements i to n of a row to the lanes of a reduction.
template <class Join, class T>
void add_rest(reductions::lanes<Join, T>& lanes, auto const& row, std::size_t i, std::size_t n) {
  constexpr auto width = whole_lanes<T>::width;
  while (i < n) {
    auto const room = width - lanes.filled % width;
    auto const count = room < n - i ? room : n - i;
    add_some<Join>(lanes, row, i, count);
    i += count;
  }
}

/// Adds n elements of a row to the lanes of a reduction.
template <class Join, class T>
void add_run(reductions::lanes<Join, T>& lanes, auto const& row, std::size_t n) {
  auto i = std::size_t{0};
  if (lanes.filled == 0 && n >= reduction_lanes) {
    constexpr auto width = whole_lanes<T>::width;
    lane::pack<T> sums[lane_vectors<T>];
    i = add_turns<Join, T>(sums, row, n, [&]() TESSERA_INLINE {
#pragma GCC unroll 16
      for (auto v = std::size_t{0}; v < lane_vectors<T>; ++v)
        sums[v] = lane::load(lanes.at + v * width);
    });
#pragma GCC unroll 16
    for (auto v = std::size_t{0}; v < lane_vectors<T>; ++v)
      lane::store(lanes.at + v * width, sums[v]);
    lanes.used = reduction_lanes;
  }
  add_rest(lanes, row, i, n);
}

/// What lanes.total() gives: lanes that nothing went to do not change it.
template <class Join, class T>
[[nodiscard]] TESSERA_INLINE inline auto total_of(reductions::lanes<Join, T> const& lanes) -> T {
  lane::pack<T> sums[lane_vectors<T>];
#pragma GCC unroll 16
  for (auto v = std::size_t{0}; v < lane_vectors<T>; ++v)
    sums[v] = lane::load(lanes.at + v * whole_lanes<T>::width);
  return folded<Join>(sums);
}

/// A row of n elements, which is all that the reduction joins.
template <class Join, class T, class Lanes = whole_lanes<T>>
[[nodiscard]] TESSERA_INLINE inline auto total_of_run(auto const& row, std::size_t n) -> T {
  lane::pack<T> sums[lane_vectors<T>];
  auto const i = add_turns<Join, T, Lanes>(sums, row, n, [&]() TESSERA_INLINE {
#pragma GCC unroll 16
    for (auto& sum : sums) sum = lane::pack<T>(Join::template neutral<T>());
  });
  if (i == n) return folded<Join>(sums);
  auto lanes = reductions::lanes<Join, T>{};
#pragma GCC unroll 16
  for (auto v = std::size_t{0}; v < lane_vectors<T>; ++v)
    lane::store(lanes.at + v * whole_lanes<T>::width, sums[v]);
  add_rest(lanes, row, i, n);
  return total_of(lanes);
}

/// exp(x - most) of a row x, which is kept where there is memory for it.
template <class Row, class T> struct exponentials_of_row {
  Row x;
  T most;
  T* kept;

  template <class L> [[nodiscard]] TESSERA_INLINE auto get(L lanes, std::size_t i) const {
    auto const e = lane::exp(x.get(lanes, i) - lanes.splat(most));
    if (kept != nullptr) lanes.store(kept + i, e);
    return e;
  }
};
/// The maximum of a row of n elements and the sum of exp(x - maximum), which are kept likewise.
template <class T> struct softmax_sums {
  T most;
  T total;
};
template <class Row, class T>
[[nodiscard]] TESSERA_INLINE inline auto exponentiate(Row const& x, std::size_t n, T* kept)
    -> softmax_sums<T> {
  auto const most = total_of_run<reductions::takes_larger, T>(x, n);
  return {most, total_of_run<reductions::adds, T>(exponentials_of_row<Row, T>{x, most, kept}, n)};
}
/// y /= divisor for a row of n elements.
template <class T> TESSERA_INLINE inline void divide_row(T* y, std::size_t n, T divisor) {
  for_each_vector<T>(n, [&](auto lanes, std::size_t i) TESSERA_INLINE {
    lanes.store(y + i, lanes.load(y + i) / lanes.splat(divisor));
  });
}
/// y = softmax(x) for a row of n elements.
template <class Row, class T>
TESSERA_INLINE inline auto softmax_of_row(Row const& x, std::size_t n, T* y) -> softmax_sums<T> {
  auto const sums = exponentiate(x, n, y);
  divide_row(y, n, sums.total);
  return sums;
}

/// The exponentials of a row while the row before it is divided by its sum: a divider works beside
/// the multipliers.
template <class Row, class T> struct exponentials_and_quotients {
  exponentials_of_row<Row, T> own;
  T* before;
  T total;

  template <class L> [[nodiscard]] TESSERA_INLINE auto get(L lanes, std::size_t i) const {
    auto const e = own.get(lanes, i);
    lanes.store(before + i, lanes.load(before + i) / lanes.splat(total));
    return e;
  }
};
/// y = softmax(x) for rows of n elements, one after another; the last one waits for `finish`.
template <class T> struct softmax_of_rows {
  std::size_t n;
  T* before = nullptr;
  T total = T{1};

  template <class Row> TESSERA_INLINE void add(Row const& x, T* y) {
    // What is written is asked for while x is read for the first time.
    constexpr auto asked = std::size_t{8192} / sizeof(T);
    for (auto i = std::size_t{0}; i < n && i < asked; i += 64 / sizeof(T)) lane::fetch_first(y + i);
    auto const most = total_of_run<reductions::takes_larger, T>(x, n);
    auto const own = exponentials_of_row<Row, T>{x, most, y};
    if (before == nullptr)
      total = total_of_run<reductions::adds, T>(own, n);
    else
      total = total_of_run<reductions::adds, T>(
          exponentials_and_quotients<Row, T>{own, before, total}, n);
    before = y;
  }
  TESSERA_INLINE void finish() const {
    if (before != nullptr) divide_row(before, n, total);
  }
};

}  // namespace detail::inline TESSERA_TARGET

template <class Join> struct kernel_for<detail::reduce_fn<Join>, simd> {
  template <std::ptrdiff_t... Axes, class Y, class E>
  static constexpr void run(axis_list<Axes...> axes, Y y, E const& e) {
    using by_one = kernel_for<detail::reduce_fn<Join>, reference>;
    using T = typename detail::vector_scalar<E>::type;
    if constexpr (not detail::by_vectors<scalar_of<Y>, E>) {
      by_one::run(axes, y, e);
    } else if constexpr (E::flat && shape_of<Y>::capacity == 1 && shape_of<E>::rank > 0 &&
                         detail::reduction_axes<shape_of<E>, Axes...>::along_row &&
                         detail::reduction_axes<shape_of<E>, Axes...>::outer == 0) {
      if (std::is_constant_evaluated()) return by_one::run(axes, y, e);
      auto const n = actual_extents<shape_of<E>>(e.extents()).size();
      if constexpr (shape_of<E>::capacity * sizeof(T) >= nontemporal_bytes)
        one_lane::store(y.data(),
                        detail::total_of_run<Join, T, lanes_from_memory<T>>(e.flat_row(), n));
      else
        one_lane::store(y.data(), detail::total_of_run<Join, T>(e.flat_row(), n));
    } else {
      if (std::is_constant_evaluated()) return by_one::run(axes, y, e);
      by_one::template run_rows<Axes...>(y, e, passes<T>{});
    }
  }

 private:
  template <class T> struct passes {
    static auto total(auto const& row, std::size_t n) -> T {
      return detail::total_of_run<Join, T>(row, n);
    }
    static auto total(reductions::lanes<Join, T> const& lanes) -> T {
      return detail::total_of(lanes);
    }
    static void add(reductions::lanes<Join, T>& lanes, auto const& row, std::size_t n) {
      detail::add_run<Join>(lanes, row, n);
    }
    static void join(auto* out, auto const& row, std::size_t n) {
      for_each_vector<T>(n, [&](auto lanes, std::size_t i) TESSERA_INLINE {
        lanes.store(out + i, Join::join(lanes.load(out + i), row.get(lanes, i)));
      });
    }
  };
};

template <> struct kernel_for<detail::softmax_fn, simd> {
  template <class Y, class E> static constexpr void run(Y y, E const& x) {
    using by_one = kernel_for<detail::softmax_fn, reference>;
    if constexpr (not detail::by_vectors<scalar_of<Y>, E>) {
      by_one::run(y, x);
    } else {
      if (std::is_constant_evaluated()) return by_one::run(y, x);
      auto rows = detail::softmax_of_rows<scalar_of<Y>>{detail::row_length(y.actual)};
      detail::for_each_row(y.actual, [&](auto const& index) {
        rows.add(nodes::detail::operand_row<shape_of<Y>>(x, index),
                 detail::destination_row(y, index).data);
      });
      rows.finish();
    }
  }
};

}  // namespace tessera
