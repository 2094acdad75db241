// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/call.hpp>
#include <tessera/compose/facts.hpp>
#include <tessera/compose/members.hpp>
#include <tessera/compose/slope.hpp>
#include <tessera/core/error.hpp>
#include <tessera/tensor/parameters.hpp>

// clang-format off
/// The contract of a layer: the first header of this floor to read.
///
/// A layer is an empty type, a description. X is a tensor type, which stands for scalar, shape and
/// backend in one; Call is what a call is for and the inputs it is given (call.hpp). A layer names
///   about                     its facts (facts.hpp), the roles of memory among them
///   parameters<Storage>       learnt; the gradient and each moment of an optimizer are the same struct
///   expected_shape<S>         S with what it insists on: S is accepted when they are equal
///   output_shape<S>           what comes out; output_extents(actual) is its run-time half
///   forward(p, x, y, m)                       a whole input; m lends state, memory and inputs
///   step(p, x, y, m)                          one sample; not needed where row_wise
///   backward(p, x, y, dy, dx, gradient, m)    leaves dx where it is told, adds to gradient
///   initialize(p, generator)                  the start that torch gives it; (p, s, generator) with statistics
/// and, where `about` says so, each as <X> or, where inputs and mode decide, as <X, Call>
///   kept                      forward to backward in training; lent for one call elsewhere
///   state                     from call to call; X is the type of one sample (no time axis). Where
///                             the host counts in it, each_count(f) calls f(count) as they lie
///   scratch, slopes           one call of forward, of backward: m.work; overlaid with everyone else's
///   statistics<Storage>       saved and loaded, never optimized, const in forward: m.statistics
///   observed<Storage>         what a forward that learns saw, m.observed; fold(to, from) joins that of
///                             chunks, absorb(statistics, observed) takes it up at the update
///   needs                     the inputs that a call must give: type_list<tag::memory>
/// A view without memory means not kept, or not wanted: dropped activations, the first layer's dx,
/// the gradient of frozen parameters. gradient.w += e does nothing to it; whoever writes its elements
/// asks gradient.w.data() != nullptr first.
/// A layer that does not say `about` is forward-only: forward(p, x) returns an expression, and the rest
/// is derived (grad/trace.hpp).
// clang-format on
namespace tessera {

namespace detail {

template <class L>
concept says_about =
    requires { requires std::same_as<std::remove_cvref_t<decltype(L::about)>, facts>; };

}  // namespace detail

/// The facts of L; of what says none, none.
template <class L>
inline constexpr facts about_of = [] {
  if constexpr (detail::says_about<L>)
    return L::about;
  else
    return facts{};
}();
template <class L> inline constexpr bool stateful = about_of<L>.state;
template <class L> inline constexpr bool row_wise = about_of<L>.row_wise;
template <class L> inline constexpr bool in_place = about_of<L>.in_place;
template <class L> inline constexpr bool streams = about_of<L>.streams || about_of<L>.row_wise;

/// The scalar of a model whose input is X: that of X, or float where X holds whole numbers.
template <class X>
using model_scalar = std::conditional_t<std::is_integral_v<scalar_of<X>>, float, scalar_of<X>>;
template <class X> using storage_of = owned<model_scalar<X>, backend_of<X>>;
template <class L, class Storage> using parameters_of = typename L::template parameters<Storage>;

/// True where the gradient may be the parameters themselves: an update fused into the backward
/// pass.
template <class L>
inline constexpr bool reads_parameters_first =
    about_of<L>.reads_parameters_first || is_empty<parameters_of<L, owned<float>>>;

// -- the roles that a layer has -------------------------------------------------------------------
namespace detail {

// Declared, and never called: the first of them that L has.
template <class L, class X, class Call> auto kept_in(int) -> typename L::template kept<X, Call>;
template <class L, class X, class Call> auto kept_in(long) -> typename L::template kept<X>;
template <class L, class X, class Call> auto kept_in(...) -> nothing;

template <class L, class X, class Call>
auto scratch_in(int) -> typename L::template scratch<X, Call>;
template <class L, class X, class Call> auto scratch_in(long) -> typename L::template scratch<X>;
template <class L, class X, class Call> auto scratch_in(...) -> nothing;

template <class L, class X, class Call>
  requires(Call::training)
auto slopes_in(int) -> typename L::template slopes<X, Call>;
template <class L, class X, class Call>
  requires(Call::training)
auto slopes_in(long) -> typename L::template slopes<X>;
template <class L, class X, class Call> auto slopes_in(...) -> nothing;

template <class L, class Call>
concept carries_state = about_of<L>.state && Call::carries;
template <class L, class X, class Call>
  requires carries_state<L, Call>
auto state_in(int) -> typename L::template state<X, Call>;
template <class L, class X, class Call>
  requires(carries_state<L, Call> && Call::purpose == call_mode::streaming)
auto state_in(long) -> typename L::template state<X>;
template <class L, class X, class Call>
  requires(carries_state<L, Call> && Call::purpose != call_mode::streaming)
auto state_in(long) -> typename L::template state<sample_of<X>>;
template <class L, class X, class Call> auto state_in(...) -> nothing;

template <class L, class Storage>
auto statistics_in(int) -> typename L::template statistics<Storage>;
template <class L, class Storage> auto statistics_in(...) -> nothing;

template <class L, class Storage> auto observed_in(int) -> typename L::template observed<Storage>;
template <class L, class Storage> auto observed_in(...) -> nothing;

template <class L> auto needs_of(int) -> typename L::needs;
template <class L> auto needs_of(...) -> type_list<>;

}  // namespace detail

template <class L, class X, class Call> using kept_of = decltype(detail::kept_in<L, X, Call>(0));
template <class L, class X, class Call>
using scratch_of = decltype(detail::scratch_in<L, X, Call>(0));
template <class L, class X, class Call>
using slopes_of = decltype(detail::slopes_in<L, X, Call>(0));
/// The state that a call with input X reads and leaves: keyed by one sample.
template <class L, class X, class Call> using state_of = decltype(detail::state_in<L, X, Call>(0));
template <class L, class Storage>
using statistics_of = decltype(detail::statistics_in<L, Storage>(0));
template <class L, class Storage> using observed_of = decltype(detail::observed_in<L, Storage>(0));
/// What a call leaves there: nothing where it does not learn.
template <class L, class X, class Call>
using observed_by = std::conditional_t<Call::learns, observed_of<L, storage_of<X>>, nothing>;

namespace detail {

/// What a kernel packs for a whole call; a step, and a call by value, take the weights as they are.
template <class Call, class Packed>
using packed_in =
    either<Call::purpose == call_mode::inference || Call::purpose == call_mode::training, Packed,
           nothing>;
/// A member that only some options have; the tag keeps two empty ones apart.
template <int Tag> struct no_member {};
template <bool Wanted, class U, int Tag = 0> using member_if = either<Wanted, U, no_member<Tag>>;

/// A member of an object, or nothing where it is empty; and the member as the U that it stands for.
template <class U, int Tag> using stored = either<is_empty<U>, no_member<Tag>, U>;
template <class U> [[nodiscard]] constexpr auto stored_as(auto& member) -> U& {
  if constexpr (is_empty<U>)
    return empty_object<U>;
  else
    return member;
}

/// The type of one sample: of a sequence X, or of X itself where a call has no time axis.
template <class X, bool IsSample> struct sample_if {
  using type = sample_of<X>;
};
template <class X> struct sample_if<X, true> {
  using type = X;
};
template <class X, class Call>
using sample_in = typename sample_if<X, Call::purpose == call_mode::streaming>::type;

}  // namespace detail

// -- what a call lends ----------------------------------------------------------------------------

/// What L is lent for one call with input X. Work is its scratch in a forward pass, its slopes in a
/// backward pass.
template <class L, class X, class Call, class Work, class Context> struct loan {
  using call_type = Call;
  using input_type = X;
  static constexpr auto purpose = Call::purpose;
  static constexpr bool training = Call::training;
  static constexpr bool learns = Call::learns;
  static constexpr bool has_state = not is_empty<state_of<L, X, Call>>;
  template <class Tag> static constexpr bool gives = tessera::gives<Call, Tag>;

  state_of<L, X, Call>& state;
  kept_of<L, X, Call>& kept;
  Work& work;
  statistics_of<L, storage_of<X>> const& statistics;
  observed_by<L, X, Call>& observed;
  [[no_unique_address]] Context context;

  /// The input of that tag, and where its slope is added to.
  template <class Tag> [[nodiscard]] constexpr auto value() const {
    return context.template value<Tag>();
  }
  template <class Tag> [[nodiscard]] constexpr auto slope() const {
    return adds_to(context.template slope<Tag>());
  }
};

// -- shape rules ----------------------------------------------------------------------------------
namespace detail {
template <class L, class S> auto output_shape_in(int) -> typename L::template output_shape<S>;
template <class L, class S> auto output_shape_in(...) -> S;
}  // namespace detail

template <class L, class S> using output_shape = decltype(detail::output_shape_in<L, S>(0));
template <class L, class X>
using output_of = tensor<model_scalar<X>, output_shape<L, shape_of<X>>, backend_of<X>>;

/// The actual extents of the output of a layer.
template <class L, class S>
[[nodiscard]] constexpr auto output_extents(actual_extents<S> const& actual) {
  if constexpr (fixed_shape<output_shape<L, S>>)
    return actual_extents<output_shape<L, S>>{};
  else if constexpr (requires { L::output_extents(actual); })
    return L::output_extents(actual);
  else
    return actual.template as<output_shape<L, S>>();
}

// -- calls ----------------------------------------------------------------------------------------

/// One sample: a step where the layer has one, a forward where every row is on its own.
template <class L, class M>
constexpr void forward_or_step(auto const& p, auto x, auto y, M const& m) {
  if constexpr (M::purpose == call_mode::streaming && not row_wise<L>)
    L::step(p, x, y, m);
  else
    L::forward(p, x, y, m);
}

/// The start that torch gives a layer; one that says nothing has zeros.
template <class L> constexpr void initialize_layer(auto& p, auto& statistics, auto& generator) {
  if constexpr (requires { L::initialize(p, statistics, generator); })
    L::initialize(p, statistics, generator);
  else if constexpr (requires { L::initialize(p, generator); })
    L::initialize(p, generator);
}
/// The same of a layer without statistics.
///
/// Errors  one with statistics would be left without their start:
///         tests/fail/initialize_no_statistics.cpp
template <class L> constexpr void initialize_layer(auto& p, auto& generator) {
  constexpr auto has_no_statistics = not about_of<L>.statistics;
  static_assert(complaint::holds<has_no_statistics, L>,
                "initialize: the model has statistics, which start, too: initialize(parameters, "
                "statistics, generator)");
  if constexpr (has_no_statistics) initialize_layer<L>(p, empty_object<nothing>, generator);
}
/// Joins what two chunks observed; takes up what a batch did.
template <class L, class O> constexpr void fold_observed(O& to, O const& from) {
  if constexpr (about_of<L>.statistics && not std::is_empty_v<O>) L::fold(to, from);
}
template <class L, class O> constexpr void absorb_observed(auto& statistics, O const& observed) {
  if constexpr (about_of<L>.statistics && not std::is_empty_v<O>) L::absorb(statistics, observed);
}

}  // namespace tessera
