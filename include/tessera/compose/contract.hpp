// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/context.hpp>
#include <tessera/core/error.hpp>
#include <tessera/core/nothing.hpp>
#include <tessera/tensor/parameters.hpp>

#include <type_traits>

// clang-format off
/// The contract of a layer: the first header of this floor to read.
///
/// A layer is an empty type, a description. What it does not name, it does not have. X is a tensor
/// type, which stands for scalar, shape and backend in one. It names
///   parameters<Storage>     learnt; the gradient and each moment of an optimizer are the same struct
///   state<X>                from call to call; X is the type of one sample (no time axis)
///   state_in<X, Mode>       the same by the input of a call and its mode, where these decide
///   tape<X>                 forward to backward, beyond what input and output tell
///   scratch<X, Mode>        one call; compositions overlay it with everyone else's
///   expected_shape<S>       S with what the layer insists on: S is accepted when they are equal
///   output_shape<S>         what comes out; output_extents(actual) is its run-time half
///   backward_reads          what its backward reads: of its own input and output
///   in_place                y may be x, and dx may be dy
///   reads_parameters_first  backward has read its parameters before it adds to their gradient
///   row_wise, streams       every row on its own, so that a step is a forward; has a step
/// and, writing where it is told,
///   forward(p, x, y, m)                       a whole input; m lends state, tape and scratch
///   step(p, x, y, m)                          one sample; not needed where row_wise
///   backward(p, x, y, dy, dx, gradient, m)    writes dx, adds to gradient
///   initialize(p, generator)                  the start that torch gives it
/// A view without memory means not kept, or not wanted: dropped activations, the first layer's dx,
/// frozen parameters. A layer that does not say backward_reads is forward-only: forward(p, x)
/// returns an expression, and the rest is derived (grad/trace.hpp).
// clang-format on
namespace tessera {

/// What a call is for. by_value overlays nothing, so that it works in constant expressions.
enum class mode { inference, streaming, training, by_value };

enum class reads { neither = 0, input = 1, output = 2, both = 3 };
[[nodiscard]] constexpr auto reads_input(reads r) -> bool { return (static_cast<int>(r) & 1) != 0; }
[[nodiscard]] constexpr auto reads_output(reads r) -> bool {
  return (static_cast<int>(r) & 2) != 0;
}
[[nodiscard]] constexpr auto reads_of(bool input, bool output) -> reads {
  return static_cast<reads>((input ? 1 : 0) + (output ? 2 : 0));
}

template <class U> inline constexpr std::size_t bytes_of = std::is_empty_v<U> ? 0 : sizeof(U);

/// What the caller lends a layer for one call.
template <mode Mode, class State, class Tape, class Scratch, class Context> struct lent {
  static constexpr auto purpose = Mode;
  static constexpr bool training = Mode == mode::training;
  using context_type = Context;

  State& state;
  Tape& tape;
  Scratch& scratch;
  [[no_unique_address]] Context context;
};
template <mode Mode, class State, class Tape, class Scratch, class Context>
[[nodiscard]] constexpr auto lend(State& state, Tape& tape, Scratch& scratch,
                                  Context const& context)
    -> lent<Mode, State, Tape, Scratch, Context> {
  return {state, tape, scratch, context};
}

// -- what a layer has -----------------------------------------------------------------------------
namespace detail {

template <class L, class X> struct state_of {
  using type = nothing;
};
template <class L, class X>
  requires requires { typename L::template state<X>; }
struct state_of<L, X> {
  using type = typename L::template state<X>;
};
template <class L, class X> struct tape_of {
  using type = nothing;
};
template <class L, class X>
  requires requires { typename L::template tape<X>; }
struct tape_of<L, X> {
  using type = typename L::template tape<X>;
};
template <class L, class X, mode M> struct scratch_of {
  using type = nothing;
};
template <class L, class X, mode M>
  requires requires { typename L::template scratch<X, M>; }
struct scratch_of<L, X, M> {
  using type = typename L::template scratch<X, M>;
};

}  // namespace detail

template <class L, class X> using tape_of = typename detail::tape_of<L, X>::type;
template <class L, class X, mode M> using scratch_of = typename detail::scratch_of<L, X, M>::type;

/// A layer carries state if it names one; compositions say so with `stateful`.
template <class L>
inline constexpr bool stateful = [] {
  if constexpr (requires { L::stateful; })
    return L::stateful;
  else
    return requires { typename L::template state<tensor<float, shape<1, 1>>>; };
}();
template <class L> inline constexpr bool row_wise = requires { requires L::row_wise; };
template <class L> inline constexpr bool in_place = requires { requires L::in_place; };
/// True where the gradient may be the parameters themselves: an update fused into the backward
/// pass.
template <class L>
inline constexpr bool reads_parameters_first = requires {
  requires L::reads_parameters_first;
} || std::is_empty_v<typename L::template parameters<owned<float>>>;
template <class L> inline constexpr bool streams = row_wise<L> || requires { requires L::streams; };

namespace detail {
template <class L, class X, mode M> [[nodiscard]] constexpr auto state_in() {
  if constexpr (not tessera::stateful<L>)
    return std::type_identity<nothing>{};
  else if constexpr (requires { typename L::template state_in<X, M>; })
    return std::type_identity<typename L::template state_in<X, M>>{};
  else if constexpr (M == mode::streaming)
    return state_of<L, X>{};
  else
    return state_of<L, sample_of<X>>{};
}
}  // namespace detail

/// The state that a call with input X reads and leaves: keyed by one sample.
template <class L, class X, mode M>
using state_of = typename decltype(detail::state_in<L, X, M>())::type;

template <class L, class Storage> using parameters_of = typename L::template parameters<Storage>;

namespace detail {
/// What a kernel packs for a whole call; a step, and a call by value, take the weights as they are.
template <mode M, class Packed>
using packed_in = std::conditional_t<M == mode::inference || M == mode::training, Packed, nothing>;
/// A member that only some options have; the tag keeps two empty ones apart.
template <int Tag> struct no_member {};
template <bool Wanted, class U, int Tag = 0>
using member_if = std::conditional_t<Wanted, U, no_member<Tag>>;

/// The type of one sample: of a sequence X, or of X itself where a call has no time axis.
template <class X, mode M> struct sample_in {
  using type = sample_of<X>;
};
template <class X> struct sample_in<X, mode::streaming> {
  using type = X;
};
}  // namespace detail

// -- shape rules ----------------------------------------------------------------------------------
namespace detail {
template <class L, class S> [[nodiscard]] constexpr auto output_shape_in() {
  if constexpr (requires { typename L::template output_shape<S>; })
    return std::type_identity<typename L::template output_shape<S>>{};
  else
    return std::type_identity<S>{};
}
}  // namespace detail

template <class L, class S>
using output_shape = typename decltype(detail::output_shape_in<L, S>())::type;
template <class L, class X> using output_of = reshaped<X, output_shape<L, shape_of<X>>>;

/// The actual extents of the output of a layer.
template <class L, class S>
[[nodiscard]] constexpr auto output_extents(actual_extents<S> const& actual) {
  if constexpr (requires { L::output_extents(actual); })
    return L::output_extents(actual);
  else
    return actual.template as<output_shape<L, S>>();
}

/// The first layer that refuses its input, or error::none.
template <class L, class S> [[nodiscard]] constexpr auto find_mismatch() {
  if constexpr (requires { L::template mismatch<S>(); }) {
    return L::template mismatch<S>();
  } else if constexpr (requires { typename L::template expected_shape<S>; }) {
    using needed = typename L::template expected_shape<S>;
    if constexpr (std::same_as<needed, S>)
      return std::type_identity<error::none>{};
    else
      return std::type_identity<error::mismatch<error::at_position<>, error::in<L>,
                                                error::expected<needed>, error::got<S>>>{};
  } else {
    return std::type_identity<error::none>{};
  }
}
template <class L, class S>
concept accepts = std::same_as<typename decltype(find_mismatch<L, S>())::type, error::none>;

/// The mismatch of a composition whose part I has one.
template <std::size_t I, class L, class S> [[nodiscard]] constexpr auto mismatch_inside() {
  using found = typename decltype(find_mismatch<L, S>())::type;
  if constexpr (std::same_as<found, error::none>)
    return std::type_identity<error::none>{};
  else
    return std::type_identity<typename found::template inside<I>>{};
}

template <class Model, class X>
using verdict = typename decltype(find_mismatch<Model, shape_of<X>>())::type;

/// Stands in for a model that is refused: after one message it accepts everything.
struct refused {
  template <class Storage> struct parameters {};
  static constexpr auto backward_reads = reads::neither;
  static constexpr bool row_wise = true;
  static constexpr void forward(auto&&...) {}
  static constexpr void backward(auto&&...) {}
};

// -- calls ----------------------------------------------------------------------------------------

/// One sample: a step where the layer has one, a forward where every row is on its own.
template <class L> constexpr void forward_or_step(auto const& p, auto x, auto y, auto m) {
  if constexpr (m.purpose == mode::streaming && not row_wise<L>)
    L::step(p, x, y, m);
  else
    L::forward(p, x, y, m);
}

/// A view of what is not kept, or not wanted.
template <class X> [[nodiscard]] constexpr auto without_memory(actual_extents<shape_of<X>> actual) {
  return view_of<X>{nullptr, actual};
}

}  // namespace tessera
