// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/contract.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>

namespace tessera {

/// One extent of a shape: n is exactly n, at_most(n) = -n is a run-time number from 0 to n.
using extent = std::ptrdiff_t;

namespace detail {
/// Not for constant expressions: its name is what the compiler says.
[[noreturn]] inline void at_most_takes_a_bound_of_at_least_1() {
  broken_contract("at_most: a bound is at least 1");
}
}  // namespace detail

[[nodiscard]] constexpr auto at_most(extent bound) -> extent {
  if (bound < 1) detail::at_most_takes_a_bound_of_at_least_1();
  return -bound;
}

[[nodiscard]] constexpr auto is_bounded(extent e) -> bool { return e < 0; }

/// The largest number that an extent can be.
[[nodiscard]] constexpr auto bound_of(extent e) -> std::size_t {
  return static_cast<std::size_t>(e < 0 ? -e : e);
}

namespace detail {

/// The number of elements at the bounds; 0 where no pointer can count them.
[[nodiscard]] constexpr auto capacity_of(std::initializer_list<extent> extents) -> std::size_t {
  auto n = std::size_t{1};
  for (auto const e : extents) {
    if (e == 0 || bound_of(e) > static_cast<std::size_t>(PTRDIFF_MAX) / n) return 0;
    n *= bound_of(e);
  }
  return n;
}

}  // namespace detail

/// A list of extents, outermost first: a type, no memory.
///
/// Shapes  shape<8, 16> is fixed; shape<at_most(128), 16> has storage for 128 rows and a run-time
///         number of them; shape<> is a single number
/// Errors  an extent of 0, or more elements than can be counted, does not compile:
///         tests/fail/shape_too_large.cpp; nor does at_most(-5): tests/fail/at_most_negative.cpp
template <extent... Extents> struct shape {
  static_assert(((Extents != 0) && ...), "shape: an extent is at least 1");
  static_assert(((Extents == 0) || ...) || detail::capacity_of({Extents...}) > 0,
                "shape: more elements than can be counted");

  static constexpr std::size_t rank = sizeof...(Extents);
  static constexpr std::size_t bounded = (std::size_t{0} + ... + (Extents < 0 ? 1U : 0U));
  /// The number of elements at the bounds.
  static constexpr std::size_t capacity = detail::capacity_of({Extents...});
  static constexpr std::array<extent, rank> extents{Extents...};
};

namespace detail {

template <class S> inline constexpr bool is_shape = false;
template <extent... Extents> inline constexpr bool is_shape<shape<Extents...>> = true;

template <auto Extents, class Axes> struct shape_from;
template <auto Extents, std::size_t... Axis>
struct shape_from<Extents, std::index_sequence<Axis...>> {
  using type = shape<Extents[Axis]...>;
};

}  // namespace detail

template <class S>
concept shape_like = detail::is_shape<S>;

/// A shape with the given extents, an array: what the algebra computes, as a type.
template <auto Extents>
using shape_from =
    typename detail::shape_from<Extents, std::make_index_sequence<Extents.size()>>::type;

template <class S>
concept fixed_shape = shape_like<S> && S::bounded == 0;

/// The largest number that an axis can be; axes count from 0, or from the end as -1, -2, ...
template <class S, std::ptrdiff_t Axis>
inline constexpr std::size_t bound_at =
    bound_of(S::extents[Axis < 0 ? S::rank - static_cast<std::size_t>(-Axis)
                                 : static_cast<std::size_t>(Axis)]);

template <class S>
  requires(S::rank > 0)
inline constexpr std::size_t last_of = bound_of(S::extents[S::rank - 1]);

template <class S>
  requires(S::rank > 0)
inline constexpr std::size_t first_of = bound_of(S::extents[0]);

namespace detail {

template <std::size_t Bounded> struct run_time_extents {
  std::size_t values[Bounded];
  friend constexpr auto operator==(run_time_extents const& a, run_time_extents const& b) -> bool {
    for (auto i = std::size_t{0}; i < Bounded; ++i)
      if (a.values[i] != b.values[i]) return false;
    return true;
  }
};
template <> struct run_time_extents<0> {
  friend constexpr auto operator==(run_time_extents, run_time_extents) -> bool { return true; }
};

}  // namespace detail

inline constexpr auto unknown_extent = static_cast<std::size_t>(-1);

/// The run-time half of a shape: one number for each bounded extent, empty where all are fixed.
///
/// Shapes with the same number of bounded extents exchange it by `as`: it passes from x to whatever
/// is sized like x.
template <class S> struct actual_extents : detail::run_time_extents<S::bounded> {
  static constexpr auto which = [] {  // the bounded extents before each axis
    auto count = std::array<std::size_t, S::rank + 1>{};
    for (auto a = std::size_t{0}; a < S::rank; ++a)
      count[a + 1] = count[a] + (is_bounded(S::extents[a]) ? 1 : 0);
    return count;
  }();

  [[nodiscard]] constexpr auto operator[](std::size_t axis) const -> std::size_t {
    constexpr auto extents = S::extents;  // a kernel sees no static array of the host's
    if constexpr (S::bounded > 0) {
      constexpr auto before = which;
      if (is_bounded(extents[axis])) return this->values[before[axis]];
    }
    return static_cast<std::size_t>(extents[axis]);
  }
  template <std::size_t Axis> [[nodiscard]] constexpr auto get() const -> std::size_t {
    if constexpr (is_bounded(S::extents[Axis]))
      return this->values[which[Axis]];
    else
      return static_cast<std::size_t>(S::extents[Axis]);
  }
  [[nodiscard]] constexpr auto full() const -> std::array<std::size_t, S::rank> {
    auto all = std::array<std::size_t, S::rank>{};
    for (auto a = std::size_t{0}; a < S::rank; ++a) all[a] = (*this)[a];
    return all;
  }
  [[nodiscard]] static constexpr auto from(std::array<std::size_t, S::rank> const& all)
      -> actual_extents {
    auto result = actual_extents{};
    if constexpr (S::bounded > 0)
      for (auto a = std::size_t{0}; a < S::rank; ++a)
        if (is_bounded(S::extents[a])) result.values[which[a]] = all[a];
    return result;
  }
  /// Every bounded extent at its bound.
  [[nodiscard]] static constexpr auto largest() -> actual_extents {
    auto all = std::array<std::size_t, S::rank>{};
    for (auto a = std::size_t{0}; a < S::rank; ++a) all[a] = bound_of(S::extents[a]);
    return from(all);
  }
  [[nodiscard]] constexpr auto size() const -> std::size_t {
    if constexpr (S::bounded == 0) return S::capacity;
    auto n = std::size_t{1};
    for (auto a = std::size_t{0}; a < S::rank; ++a) n *= (*this)[a];
    return n;
  }
  [[nodiscard]] static constexpr auto unknown() -> std::array<std::size_t, S::rank> {
    auto all = std::array<std::size_t, S::rank>{};
    for (auto& e : all) e = unknown_extent;
    return all;
  }
  /// True where no extent is above its bound.
  [[nodiscard]] constexpr auto fits() const -> bool {
    for (auto a = std::size_t{0}; a < S::rank; ++a)
      if ((*this)[a] > bound_of(S::extents[a])) return false;
    return true;
  }
  template <class Other>
    requires(Other::bounded == S::bounded)
  [[nodiscard]] constexpr auto as() const -> actual_extents<Other> {
    return {static_cast<detail::run_time_extents<S::bounded> const&>(*this)};
  }
};

/// The extents of what has a shape: a member where some are bounded, else nothing. It is a base,
/// as nvcc 13 gives a kernel a member that is [[no_unique_address]] at another place than the host
/// wrote it to.
template <class S, bool Bounded = (S::bounded > 0)> struct with_extents {
  actual_extents<S> actual{};
  [[nodiscard]] constexpr auto extents() const -> actual_extents<S> { return actual; }
};
template <class S> struct with_extents<S, false> {
  static constexpr actual_extents<S> actual{};
  [[nodiscard]] static constexpr auto extents() -> actual_extents<S> { return {}; }
};

}  // namespace tessera
