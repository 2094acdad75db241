// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/members.hpp>
#include <tessera/core/contract.hpp>
#include <tessera/shape/shape.hpp>

#include <cstddef>

namespace tessera::detail {

/// True where the lanes of a sample lie along two axes or more, and one behind the first is
/// bounded: where it is shorter than before, lanes have other places in a state.
template <class S>
inline constexpr bool bounds_inner_lanes = [] {
  for (auto a = std::size_t{1}; a + 1 < S::rank; ++a)
    if (is_bounded(S::extents[a])) return true;
  return false;
}();

/// How long the axes of lanes behind the first are in the samples that a state has seen.
template <class S> struct inner_lanes {
  std::size_t extents[S::rank];  ///< zeros: it has seen none

  /// The next samples: X is S, or has axes before it.
  template <class X> constexpr void go_on(actual_extents<X> now) {
    constexpr auto before = X::rank - S::rank;
    if (now.size() == 0) return;
    for (auto a = std::size_t{1}; a + 1 < S::rank; ++a)
      require(extents[a] == 0 || extents[a] == now[before + a],
              "a state goes on with as many lanes behind their first axis as it began with");
    for (auto a = std::size_t{1}; a + 1 < S::rank; ++a) extents[a] = now[before + a];
  }
};

/// A state of such samples.
template <class State, class S> struct state_of_lanes : State {
  inner_lanes<S> inner;
  constexpr void each_count(auto const& f) { f(inner); }
};
template <class State, class S>
using with_inner_lanes = either<bounds_inner_lanes<S>, state_of_lanes<State, S>, State>;

}  // namespace tessera::detail
