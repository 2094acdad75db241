// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/shape/shape.hpp>

/// Shapes from shapes. Every rule is an alias that fails softly, so that a concept can ask it.
namespace tessera {

/// Axes of an operation: axis<0>, axis<-1>, axis<1, 2>. Negative ones count from the end.
template <std::ptrdiff_t... Axes> struct axis_list {};
template <std::ptrdiff_t... Axes> inline constexpr auto axis = axis_list<Axes...>{};

/// A part of an axis, [Begin, End): range<2, 5>. `whole_axis` is the whole axis.
template <std::size_t Begin, std::size_t End> struct range_type {
  static_assert(Begin < End, "range: it must hold something");
};
template <std::size_t Begin, std::size_t End>
inline constexpr auto range = range_type<Begin, End>{};
struct whole_axis_type {};
inline constexpr auto whole_axis = whole_axis_type{};

namespace detail {

template <std::size_t Rank>
[[nodiscard]] constexpr auto normal_axis(std::ptrdiff_t a) -> std::size_t {
  return static_cast<std::size_t>(a < 0 ? static_cast<std::ptrdiff_t>(Rank) + a : a);
}
template <class S> [[nodiscard]] constexpr auto has_axis(std::ptrdiff_t a) -> bool {
  constexpr auto rank = static_cast<std::ptrdiff_t>(S::rank);
  return a < rank && a >= -rank;
}

template <class S> [[nodiscard]] constexpr auto drop(std::size_t from, std::size_t count) {
  return [=]<std::size_t N>(std::integral_constant<std::size_t, N>) {
    auto e = std::array<extent, N>{};
    for (auto a = std::size_t{0}, to = std::size_t{0}; a < S::rank; ++a)
      if (a < from || a >= from + count) e[to++] = S::extents[a];
    return e;
  };
}

template <class S>
inline constexpr auto extents_without_first =
    drop<S>(0, 1)(std::integral_constant<std::size_t, S::rank - 1>{});
template <class S>
inline constexpr auto extents_without_last =
    drop<S>(S::rank - 1, 1)(std::integral_constant<std::size_t, S::rank - 1>{});

template <class S, std::size_t Axis, extent E>
inline constexpr auto extents_with = [] {
  auto e = S::extents;
  e[Axis] = E;
  return e;
}();

template <class S, std::size_t Axis, extent E>
inline constexpr auto extents_inserted = [] {
  auto e = std::array<extent, S::rank + 1>{};
  for (auto a = std::size_t{0}; a < S::rank + 1; ++a)
    e[a] = a < Axis ? S::extents[a] : a == Axis ? E : S::extents[a - 1];
  return e;
}();

}  // namespace detail

/// S without its first axis: one sample of it, where the first axis is time or a batch.
template <class S>
  requires(S::rank > 0)
using without_first = shape_from<detail::extents_without_first<S>>;

/// S without its last axis: one number for each row.
template <class S>
  requires(S::rank > 0)
using without_last = shape_from<detail::extents_without_last<S>>;

/// S with its axis Axis (0 .. rank - 1) replaced by the extent E.
template <class S, std::size_t Axis, extent E>
  requires(Axis < S::rank)
using with_extent = shape_from<detail::extents_with<S, Axis, E>>;

/// S with rows of N elements.
template <class S, std::size_t N>
  requires(S::rank > 0)
using with_last = with_extent<S, S::rank - 1, static_cast<extent>(N)>;

/// S with the extent E, fixed or bounded, in front.
template <class S, extent E>
  requires(S::rank > 0)
using with_first = with_extent<S, 0, E>;

/// S with a new axis of extent E before its axis Axis (0 .. rank).
template <class S, std::size_t Axis, extent E>
  requires(Axis <= S::rank)
using with_axis = shape_from<detail::extents_inserted<S, Axis, E>>;

namespace detail {

template <class S, std::size_t N>
inline constexpr auto extents_of_rank = [] {
  auto e = std::array<extent, N>{};
  for (auto a = std::size_t{0}; a < N; ++a)
    e[a] = a + S::rank < N ? 1 : S::extents[a + S::rank - N];
  return e;
}();

}  // namespace detail

/// S with N axes: the last ones, or all of them after axes of extent 1.
template <class S, std::size_t N> using with_rank = shape_from<detail::extents_of_rank<S, N>>;
/// S with N axes or more.
template <class S, std::size_t N>
using with_rank_at_least = with_rank<S, (S::rank > N ? S::rank : N)>;

namespace detail {

/// `all` with the axes [First, Last) as one, of the extent `merged`.
template <std::size_t First, std::size_t Last, class E, std::size_t Rank>
[[nodiscard]] constexpr auto merged_extents(std::array<E, Rank> const& all, E merged) {
  auto result = std::array<E, Rank - (Last - First) + 1>{};
  for (auto a = std::size_t{0}; a < result.size(); ++a)
    result[a] = a < First ? all[a] : a == First ? merged : all[a + Last - First - 1];
  return result;
}
template <class S, std::size_t First, std::size_t Last>
inline constexpr auto extents_with_merged = [] {
  auto size = std::size_t{1};
  auto bounded = false;
  for (auto a = First; a < Last; ++a) {
    size *= bound_of(S::extents[a]);
    bounded = bounded || is_bounded(S::extents[a]);
  }
  return merged_extents<First, Last>(
      S::extents, bounded ? at_most(static_cast<extent>(size)) : static_cast<extent>(size));
}();

}  // namespace detail

/// S with its axes [First, Last) as one, bounded if one of them is; of none, an axis of extent 1.
template <class S, std::size_t First, std::size_t Last>
  requires(First <= Last && Last <= S::rank)
using with_merged = shape_from<detail::extents_with_merged<S, First, Last>>;
/// The actual extents of with_merged.
template <std::size_t First, std::size_t Last, class S>
[[nodiscard]] constexpr auto merged(actual_extents<S> const& actual) {
  auto const all = actual.full();
  auto size = std::size_t{1};
  for (auto a = First; a < Last; ++a) size *= all[a];
  return actual_extents<with_merged<S, First, Last>>::from(
      detail::merged_extents<First, Last>(all, size));
}

// -- transpose ------------------------------------------------------------------------------------
namespace detail {

template <class S, std::ptrdiff_t... Axes>
inline constexpr auto permutation_of = [] {
  if constexpr (sizeof...(Axes) == 0) {  // as NumPy: the axes reversed
    auto order = std::array<std::size_t, S::rank>{};
    for (auto a = std::size_t{0}; a < S::rank; ++a) order[a] = S::rank - 1 - a;
    return order;
  } else {
    return std::array<std::size_t, sizeof...(Axes)>{normal_axis<S::rank>(Axes)...};
  }
}();

template <class S, std::ptrdiff_t... Axes>
inline constexpr bool is_permutation_of = [] {
  if (sizeof...(Axes) != 0 && sizeof...(Axes) != S::rank) return false;
  if (not(has_axis<S>(Axes) && ...)) return false;
  auto seen = std::array<bool, S::rank + 1>{};
  for (auto a : permutation_of<S, Axes...>) seen[a] = true;
  for (auto a = std::size_t{0}; a < S::rank; ++a)
    if (not seen[a]) return false;
  return true;
}();

template <class S, std::ptrdiff_t... Axes>
inline constexpr auto extents_transposed = [] {
  auto e = S::extents;
  for (auto a = std::size_t{0}; a < S::rank; ++a) e[a] = S::extents[permutation_of<S, Axes...>[a]];
  return e;
}();

}  // namespace detail

/// The axes in another order; reversed where none are named.
template <class S, std::ptrdiff_t... Axes>
  requires detail::is_permutation_of<S, Axes...>
using transposed = shape_from<detail::extents_transposed<S, Axes...>>;

// -- reduce ---------------------------------------------------------------------------------------
namespace detail {

/// Which axes a reduction takes away; all of them where none are named.
template <class S, std::ptrdiff_t... Axes>
inline constexpr auto reduced_axes = [] {
  auto taken = std::array<bool, S::rank>{};
  for (auto a = std::size_t{0}; a < S::rank; ++a) taken[a] = sizeof...(Axes) == 0;
  ((taken[normal_axis<S::rank>(Axes)] = true), ...);
  return taken;
}();

template <class S, bool Keep, std::ptrdiff_t... Axes>
inline constexpr auto extents_reduced = [] {
  constexpr auto count = [] {
    auto n = std::size_t{0};
    for (auto t : reduced_axes<S, Axes...>) n += Keep || not t ? 1 : 0;
    return n;
  }();
  auto e = std::array<extent, count>{};
  for (auto a = std::size_t{0}, to = std::size_t{0}; a < S::rank; ++a) {
    if (not reduced_axes<S, Axes...>[a])
      e[to++] = S::extents[a];
    else if (Keep)
      e[to++] = 1;
  }
  return e;
}();

}  // namespace detail

/// What is left of S when Axes are reduced; Keep leaves them with extent 1.
template <class S, bool Keep, std::ptrdiff_t... Axes>
  requires(detail::has_axis<S>(Axes) && ...)
using reduced = shape_from<detail::extents_reduced<S, Keep, Axes...>>;

// -- broadcast ------------------------------------------------------------------------------------
namespace detail {

[[nodiscard]] constexpr auto broadcast_extent(extent a, extent b) -> extent {
  return a == b || b == 1 ? a : a == 1 ? b : 0;  // 0: they do not agree
}

template <class S, class R>
inline constexpr auto extents_broadcast = [] {
  constexpr auto rank = S::rank > R::rank ? S::rank : R::rank;
  auto e = std::array<extent, rank>{};
  for (auto a = std::size_t{0}; a < rank; ++a) {
    auto const s = a + S::rank < rank ? 1 : S::extents[a + S::rank - rank];
    auto const r = a + R::rank < rank ? 1 : R::extents[a + R::rank - rank];
    e[a] = broadcast_extent(s, r);
  }
  return e;
}();

template <class S, class R>
inline constexpr bool broadcasts = [] {
  for (auto e : extents_broadcast<S, R>)
    if (e == 0) return false;
  return true;
}();

}  // namespace detail

/// The shape of an elementwise operation, by NumPy's rule: axes are aligned at the last one, and an
/// extent of exactly 1 repeats. Bounded extents agree with the same bound.
template <class S, class R>
  requires detail::broadcasts<S, R>
using broadcast = shape_from<detail::extents_broadcast<S, R>>;

template <class S, class R>
concept broadcasts_with = requires { typename broadcast<S, R>; };

/// True where S repeats to fill R, and R keeps its shape.
template <class S, class R>
concept broadcasts_to = broadcasts_with<S, R> && std::same_as<broadcast<S, R>, R>;

// -- concatenate, stack, split --------------------------------------------------------------------
namespace detail {

template <std::size_t Axis, class S, class R>
inline constexpr bool concatenates = [] {
  if (S::rank != R::rank || Axis >= S::rank) return false;
  for (auto a = std::size_t{0}; a < S::rank; ++a)
    if (a != Axis && S::extents[a] != R::extents[a]) return false;
  return true;
}();

[[nodiscard]] constexpr auto sum_of(extent a, extent b) -> extent {
  auto const n = static_cast<extent>(bound_of(a) + bound_of(b));
  return is_bounded(a) || is_bounded(b) ? at_most(n) : n;
}

template <std::size_t Axis, class... S> struct concatenated;
template <std::size_t Axis, class S> struct concatenated<Axis, S> {
  using type = S;
};
template <std::size_t Axis, class S, class R, class... More>
  requires concatenates<Axis, S, R>
struct concatenated<Axis, S, R, More...>
    : concatenated<Axis, with_extent<S, Axis, sum_of(S::extents[Axis], R::extents[Axis])>,
                   More...> {};

}  // namespace detail

/// Shapes joined along an axis (0 .. rank - 1); the other extents must be equal.
template <std::size_t Axis, class... S>
using concatenated = typename detail::concatenated<Axis, S...>::type;

/// One of `Parts` equal parts of an axis.
template <class S, std::size_t Axis, std::size_t Parts>
  requires(Axis < S::rank && S::extents[Axis] > 0 && bound_of(S::extents[Axis]) % Parts == 0)
using chunked = with_extent<S, Axis, static_cast<extent>(bound_of(S::extents[Axis]) / Parts)>;

// -- reshape --------------------------------------------------------------------------------------
namespace detail {

/// Bounded axes may stand only where both shapes begin, and alike: what follows them is fixed.
template <class S, class R>
inline constexpr bool reshapes = [] {
  if (S::bounded != R::bounded || S::capacity != R::capacity) return false;
  for (auto a = std::size_t{0}; a < S::bounded; ++a)
    if (a >= S::rank || a >= R::rank || S::extents[a] >= 0 || S::extents[a] != R::extents[a])
      return false;
  return true;
}();

}  // namespace detail

/// True where the elements of S in their order are those of R.
template <class S, class R>
concept reshapes_to = shape_like<S> && shape_like<R> && detail::reshapes<S, R>;

// -- matrix product -------------------------------------------------------------------------------
namespace detail {

template <class S, class R> struct product;
/// Matrices and stacks of them: (..., M, K) and (..., K, N) give (..., M, N).
template <class S, class R>
  requires(S::rank >= 2 && R::rank >= 2 && S::extents[S::rank - 1] == R::extents[R::rank - 2] &&
           broadcasts<without_last<without_last<S>>, without_last<without_last<R>>>)
struct product<S, R> {
  using stack = broadcast<without_last<without_last<S>>, without_last<without_last<R>>>;
  using rows = with_axis<stack, stack::rank, S::extents[S::rank - 2]>;
  using type = with_axis<rows, rows::rank, R::extents[R::rank - 1]>;
};
template <class S, class R>
  requires(S::rank == 1 && R::rank >= 2 && S::extents[0] == R::extents[R::rank - 2])
struct product<S, R> {
  using type = with_extent<without_last<R>, R::rank - 2, R::extents[R::rank - 1]>;
};
template <class S, class R>
  requires(S::rank >= 1 && R::rank == 1 && S::extents[S::rank - 1] == R::extents[0])
struct product<S, R> {
  using type = without_last<S>;
};

}  // namespace detail

/// The shape of a matrix product, by NumPy's rule for `matmul`.
template <class S, class R> using product_shape = typename detail::product<S, R>::type;

}  // namespace tessera
