// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/contract.hpp>

/// Is this a layer, and does it take this input? One complaint, with its path, or none.
namespace tessera {

namespace complaint {

/// What a layer must say and does not, or a call must give.
template <class Position, class Where, class What> struct breach;
template <std::size_t... Path, class Where, class What>
struct breach<at_position<Path...>, Where, What> {
  template <std::size_t I> using inside = breach<at_position<I, Path...>, Where, What>;
};

struct parameters_and_forward;  ///< it has neither: no layer at all
/// Of a layer that has `forward(p, x)` alone: what it must do that returns one expression of both.
template <class What> struct forward_only;
struct returns_an_expression;
struct takes_a_constant_by_value;        ///< tensor<...>{{1, 2}} * x
struct computes_no_tensor_of_its_own;    ///< as `evaluate` does, and a tensor from an expression
struct reads_an_element_by_slice_x_i_j;  ///< x(i, j) is a number
struct facts_named_about;
struct facts_misspelt;  ///< of which the compiler has told
struct parameters_of_storage;
struct expected_shape_of_s;
struct output_shape_of_s;
struct forward_p_x_y_m;
struct backward_p_x_y_dy_dx_gradient_m;
struct step_p_x_y_m;
struct initialize_p_generator;
struct fold_and_absorb;
template <class Tag> struct input_given;
/// A role of memory: named by the layer exactly where its facts say so.
namespace role {
struct kept;
struct state;
struct scratch;
struct slopes;
struct statistics;
struct observed;
}  // namespace role

/// A sentence for each kind of finding; of each object that takes a model.
template <class Finding> inline constexpr bool every_part_is_a_layer = true;
template <class P, class W>
inline constexpr bool every_part_is_a_layer<breach<P, W, parameters_and_forward>> = false;
template <class Finding> inline constexpr bool every_forward_is_an_expression = true;
template <class P, class W, class What>
inline constexpr bool every_forward_is_an_expression<breach<P, W, forward_only<What>>> = false;
template <class Finding> inline constexpr bool every_layer_accepts_its_input = true;
template <class P, class W, class E, class G>
inline constexpr bool every_layer_accepts_its_input<mismatch<P, W, E, G>> = false;
template <class Finding> inline constexpr bool every_layer_keeps_the_contract = true;
template <class P, class W, class What>
inline constexpr bool every_layer_keeps_the_contract<breach<P, W, What>> = false;
template <class P, class W, class What>
inline constexpr bool every_layer_keeps_the_contract<breach<P, W, forward_only<What>>> = true;
template <class P, class W, class Tag>
inline constexpr bool every_layer_keeps_the_contract<breach<P, W, input_given<Tag>>> = true;
template <class P, class W>
inline constexpr bool every_layer_keeps_the_contract<breach<P, W, facts_misspelt>> = true;
template <class P, class W>
inline constexpr bool every_layer_keeps_the_contract<breach<P, W, parameters_and_forward>> = true;
template <class Finding> inline constexpr bool every_input_is_given = true;
template <class P, class W, class Tag>
inline constexpr bool every_input_is_given<breach<P, W, input_given<Tag>>> = false;

}  // namespace complaint

namespace detail {

using no_finding = std::type_identity<complaint::none>;
template <class L, class What>
using breach_of =
    std::type_identity<complaint::breach<complaint::at_position<>, complaint::in<L>, What>>;

template <class Role> inline constexpr bool names = not std::same_as<Role, nothing>;

/// The first role that is named and not said, or the other way round.
template <class L, class X, class Call> [[nodiscard]] constexpr auto wrong_role() {
  constexpr auto names_state = requires { typename L::template state<X, Call>; } ||
                               requires { typename L::template state<X>; };
  constexpr auto about = about_of<L>;
  if constexpr (about.kept != names<kept_of<L, X, Call>>)
    return breach_of<L, complaint::role::kept>{};
  else if constexpr (about.scratch != names<scratch_of<L, X, Call>>)
    return breach_of<L, complaint::role::scratch>{};
  else if constexpr (Call::training && about.slopes != names<slopes_of<L, X, Call>>)
    return breach_of<L, complaint::role::slopes>{};
  else if constexpr (about.statistics != names<statistics_of<L, storage_of<X>>>)
    return breach_of<L, complaint::role::statistics>{};
  else if constexpr (about.statistics != names<observed_of<L, storage_of<X>>>)
    return breach_of<L, complaint::role::observed>{};
  else if constexpr (about.state != names_state)
    return breach_of<L, complaint::role::state>{};
  else
    return no_finding{};
}

template <class Call> struct plain_context_of;
template <call_mode M, call_manner V, class... I> struct plain_context_of<call_kind<M, V, I...>> {
  using type = call_context<plain_context, I...>;
};
template <class L, class X, class Call, class Work>
using loan_of = loan<L, X, Call, Work, typename plain_context_of<Call>::type>;

template <class L, class X>
concept has_start =
    is_empty<parameters_of<L, storage_of<X>>> ||
    requires(parameters_of<L, storage_of<X>>& p, statistics_of<L, storage_of<X>>& s, int& g) {
      L::initialize(p, s, g);
    } || requires(parameters_of<L, storage_of<X>>& p, int& g) { L::initialize(p, g); };
template <class L, class X, class Call>
concept has_forward = requires(
    parameters_of<L, storage_of<X>> const& p, const_view_of<X> x, view_of<output_of<L, X>> y,
    loan_of<L, X, Call, scratch_of<L, X, Call>> m) { L::forward(p, x, y, m); };
template <class L, class X, class Call>
concept has_step = requires(parameters_of<L, storage_of<X>> const& p, const_view_of<X> x,
                            view_of<output_of<L, X>> y,
                            loan_of<L, X, Call, scratch_of<L, X, Call>> m) { L::step(p, x, y, m); };
template <class L, class X, class Call>
concept has_backward = requires(
    parameters_of<L, storage_of<X>> const& p, parameters_of<L, storage_of<X>>& gradient,
    const_view_of<X> x, const_view_of<output_of<L, X>> y, slope_target<view_of<X>, false> dx,
    loan_of<L, X, Call, slopes_of<L, X, Call>> m) { L::backward(p, x, y, y, dx, gradient, m); };
template <class L, class X>
concept has_fold = requires(observed_of<L, storage_of<X>>& o, statistics_of<L, storage_of<X>>& s) {
  L::fold(o, o);
  L::absorb(s, o);
};

template <class L, class Call>
[[nodiscard]] constexpr auto missing_input(type_list<>) -> no_finding {
  return {};
}
template <class L, class Call, class First, class... Rest>
[[nodiscard]] constexpr auto missing_input(type_list<First, Rest...>) {
  if constexpr (gives<Call, First>)
    return missing_input<L, Call>(type_list<Rest...>{});
  else
    return breach_of<L, complaint::input_given<First>>{};
}

/// A layer whose `about` is declared and cannot be read: then the name is ambiguous beside another
/// of it, which it would not be if there were none.
struct some_about {
  static constexpr auto about = nothing{};
};
template <class L> struct about_of_either : L, some_about {};
template <class L>
concept declares_about = std::is_class_v<L> && not std::is_final_v<L> &&
                         not requires { about_of_either<L>::about; } && not requires { L::about; };

/// What a layer does not say, whatever its input is.
template <class L, class X, class Call> [[nodiscard]] constexpr auto find_breach() {
  using role = decltype(wrong_role<L, X, Call>());
  constexpr auto steps = Call::purpose == call_mode::streaming && not row_wise<L>;
  if constexpr (not requires { typename L::template output_shape<shape_of<X>>; })
    return breach_of<L, complaint::output_shape_of_s>{};
  else if constexpr (not std::same_as<role, no_finding>)
    return role{};
  else if constexpr (not has_start<L, X>)
    return breach_of<L, complaint::initialize_p_generator>{};
  else if constexpr (about_of<L>.statistics && not has_fold<L, X>)
    return breach_of<L, complaint::fold_and_absorb>{};
  else if constexpr (steps && not has_step<L, X, Call>)
    return breach_of<L, complaint::step_p_x_y_m>{};
  else if constexpr (not steps && not has_forward<L, X, Call>)
    return breach_of<L, complaint::forward_p_x_y_m>{};
  else if constexpr (Call::training && not has_backward<L, X, Call>)
    return breach_of<L, complaint::backward_p_x_y_dy_dx_gradient_m>{};
  else
    return no_finding{};
}

}  // namespace detail

/// The first finding about L for a call with input X, as a type_identity; complaint::none if none.
template <class L, class X, class Call> [[nodiscard]] constexpr auto find_mismatch() {
  using S = shape_of<X>;
  if constexpr (not detail::says_about<L>) {
    if constexpr (detail::declares_about<L>) {
      static_cast<void>(L::about);  // whatever is wrong with it, the compiler tells
      return detail::breach_of<L, complaint::facts_misspelt>{};
    } else {
      return detail::breach_of<L, complaint::facts_named_about>{};
    }
  } else if constexpr (not requires { typename L::template parameters<storage_of<X>>; }) {
    return detail::breach_of<L, complaint::parameters_of_storage>{};
  } else if constexpr (not requires { typename L::template expected_shape<S>; }) {
    return detail::breach_of<L, complaint::expected_shape_of_s>{};
  } else if constexpr (not std::same_as<typename L::template expected_shape<S>, S>) {
    return std::type_identity<complaint::mismatch<
        complaint::at_position<>, complaint::in<L>,
        complaint::expected<typename L::template expected_shape<S>>, complaint::got<S>>>{};
  } else {
    using missing = decltype(detail::missing_input<L, Call>(detail::needs_of<L>(0)));
    if constexpr (not std::same_as<missing, detail::no_finding>)
      return missing{};
    else if constexpr (requires { L::template find<X, Call>(); })
      return L::template find<X, Call>();  // a composition: its parts
    else
      return detail::find_breach<L, X, Call>();
  }
}

/// The finding of a composition that wants two shapes alike, at part I or at itself.
template <class L, class Expected, class Got, std::size_t... I>
[[nodiscard]] constexpr auto same_shape() {
  if constexpr (std::same_as<Expected, Got>)
    return detail::no_finding{};
  else
    return std::type_identity<
        complaint::mismatch<complaint::at_position<I...>, complaint::in<L>,
                            complaint::expected<Expected>, complaint::got<Got>>>{};
}

template <class L, class X, class Call>
using verdict = typename decltype(find_mismatch<L, X, Call>())::type;

/// A layer L that takes inputs of type X in such a call.
template <class L, class X, class Call = training_call>
concept layer_for = tensor_like<X> && std::same_as<verdict<L, X, Call>, complaint::none>;
/// The same of a tensor of float with shape S, and inputs besides it.
template <class L, class S, class... Inputs>
concept accepts = layer_for<L, tensor<float, S>, call_for<call_mode::training, Inputs...>>;

/// What layers without parameters, and layers that keep the shape of any input, are made of.
struct without_parameters {
  template <class Storage> struct parameters {};
};
struct any_shape {
  template <class S> using expected_shape = S;
  template <class S> using output_shape = S;
};

/// Stands for what is no layer at all, and says so where it is asked.
template <class L> struct no_layer : without_parameters, any_shape {
  static constexpr auto about = facts{.row_wise = true, .streams = true};
  template <class X, class Call> [[nodiscard]] static constexpr auto find() {
    return detail::breach_of<L, complaint::parameters_and_forward>{};
  }
};
/// Stands in for a model that is refused: after one message it accepts everything.
struct refused : without_parameters, any_shape {
  static constexpr auto about = facts{.row_wise = true, .streams = true};
  static constexpr void forward(auto&&...) {}
  static constexpr void backward(auto&&...) {}
};

}  // namespace tessera
