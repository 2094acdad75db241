// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <type_traits>

/// The vocabulary of error messages.
///
/// A check is a static_assert on a plain bool whose arguments are facts, so that both compilers
/// print them: which layer, at which position, what it expected and what it got.
namespace tessera::complaint {

template <std::size_t... Path> struct at_position;  ///< outermost first: <1, 0> is 0 inside of 1
template <class Where> struct in;                   ///< the layer or operation that complains
template <class What> struct expected;              ///< what it needs
template <class What> struct got;                   ///< what it was given

template <class Where, class Expected, class Got> inline constexpr bool shapes_match = false;
template <class Where, class What>
inline constexpr bool shapes_match<Where, expected<What>, got<What>> = true;

/// No layer refuses its input.
struct none;

/// The first layer that does not take what it is given, as one type.
template <class Position, class Where, class Expected, class Got> struct mismatch;
template <std::size_t... Path, class Where, class Expected, class Got>
struct mismatch<at_position<Path...>, Where, Expected, Got> {
  /// The same mismatch, seen from a composition that has it at position I.
  template <std::size_t I> using inside = mismatch<at_position<I, Path...>, Where, Expected, Got>;
};

/// A yes or no about `Where`, for sentences that name a type and no shapes.
template <bool Answer, class... Where> inline constexpr bool holds = Answer;

}  // namespace tessera::complaint
