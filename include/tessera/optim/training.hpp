// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/objects.hpp>
#include <tessera/compose/walk.hpp>
#include <tessera/optim/clipping.hpp>
#include <tessera/optim/optimizer.hpp>

namespace tessera {

/// Sets every number of a struct of parameters, padding included, to zero.
template <class P> constexpr void clear_parameters(P& p) { clear_on<backend_of_parameters<P>>(p); }

namespace detail {

template <class L> using reads_first = std::bool_constant<reads_parameters_first<L>>;
/// Such a layer draws numbers where a call has a random_context: dropout.
template <class L> using draws_nothing = std::bool_constant<not about_of<L>.random>;

/// complaint::none, or the position of the first layer of which Answer does not hold, where it is
/// asked.
template <template <class> class Answer, class Model, class X, class Call, bool Asks>
[[nodiscard]] constexpr auto position_without() {
  if constexpr (Asks)
    return first_layer_without<Answer, Model, X, Call>();
  else
    return std::type_identity<complaint::none>{};
}
/// Where a step is given no context at all.
struct no_context {
  [[nodiscard]] constexpr auto stream_inside(std::size_t) const -> no_context { return {}; }
};
template <class Context>
inline constexpr bool says_what_to_draw =
    std::same_as<Context, plain_context> || requires(Context const& c) { c.seed; };

/// The type of target that a loss names, with the integers of Given where it takes integers; Given
/// itself where it names none.
template <class Loss, class Y, class Given> struct target_for {
  using type = Given;
};
template <class Loss, class Y, class Given>
  requires requires { typename Loss::template target_type<Y>; }
struct target_for<Loss, Y, Given> {
  using named = typename Loss::template target_type<Y>;
  static constexpr bool integers =
      std::integral<scalar_of<named>> && std::integral<scalar_of<Given>>;
  using T = either<integers, scalar_of<Given>, scalar_of<named>>;
  using type = tensor<T, shape_of<named>, backend_of<named>>;
};
template <class Loss, class Y, class Given>
using target_type = typename target_for<Loss, Y, Given>::type;

/// Its type where it is a tensor or a view of one, and the type of its shape.
template <class Given> struct tensor_given {
  using kind = Given;
  using shape_type = Given;
};
template <contiguous Given> struct tensor_given<Given> {
  using kind = kind_of<Given>;
  using shape_type = shape_of<Given>;
};
template <class Loss, class Y, class Given>
using target_wanted =
    target_type<Loss, Y, either<contiguous<Given>, typename tensor_given<Given>::kind, Y>>;

}  // namespace detail

/// All that training a model takes: parameters, moments and a differentiation for each chunk of the
/// batch.
///
/// A batch is cut into Chunks parts, whatever the number of threads; a fixed tree adds their
/// gradients, so that the bits do not depend on who computed what.
///
/// Shapes  X is the tensor type of one chunk
/// State   passes[c].state is carried from step to step; `restart` makes it zero
/// Cost    allocates nothing; sizeof is Chunks·memory_of<Model, X, call_mode::training>.object and
///         parameters and moments; an optimizer that fuses its update needs no gradient
/// Errors  a layer that reads parameters late, where the update is fused:
///         tests/fail/training_fused_group_norm.cpp; a step of a model with dropout that is not
///         told what to draw: tests/fail/training_dropout_without_context.cpp; a step whose input,
///         target or optimizer does not fit: tests/fail/training_input.cpp,
///         tests/fail/training_target.cpp, tests/fail/training_other_optimizer.cpp; an input or
///         target that is memory of the training breaks the contract: tests/optim/training.cpp
template <class Model, class X, class Optimizer, std::size_t Chunks = 1, class... Inputs>
struct training {
  using call_type = call_for<call_mode::training, Inputs...>;
  using found = model_verdict<Model, X, call_type>;
  static_assert(complaint::every_part_is_a_layer<found>,
                "a part of the model is no layer, as relu_layer is one and relu_layer() is none");
  static_assert(complaint::every_layer_accepts_its_input<found>,
                "a layer is given a shape it does not take");
  static_assert(complaint::every_forward_is_an_expression<found>,
                "forward-only: `forward(p, x)` must be one expression of p and x");
  static_assert(complaint::every_layer_keeps_the_contract<found>,
                "a layer does not say what the contract of layers asks for");
  static_assert(complaint::every_input_is_given<found>,
                "a layer needs an input that the object is not made for");
  /// The model; after one message, a stand-in.
  using taken = either<std::same_as<found, complaint::none>, Model, refused>;
  static constexpr auto fused = fuses_update<Optimizer>;
  static_assert(not fused || Chunks == 1, "training: a fused update is for one chunk");
  using late_reader = typename decltype(detail::position_without<detail::reads_first, taken, X,
                                                                 call_type, fused>())::type;
  static_assert(complaint::holds<std::same_as<late_reader, complaint::none>, late_reader>,
                "a fused update: this layer reads parameters after it added to their gradient");
  using pass_type = differentiation_into<taken, X, either<fused, no_gradient, void>, Inputs...>;
  using model = typename pass_type::model;
  using input = X;
  using output = typename pass_type::output;
  using optimizer_type = Optimizer;
  using scalar = model_scalar<X>;
  using parameters_type = typename pass_type::parameters_type;
  using statistics_type = typename pass_type::statistics_type;
  using inference_type = inference<taken, X, Inputs...>;
  using moments_type = typename Optimizer::template moments<parameters_type>;
  static constexpr auto chunks = Chunks;

  static constexpr bool has_statistics = not is_empty<statistics_type>;

  parameters_type parameters;
  [[no_unique_address]] statistics_type statistics;
  [[no_unique_address]] moments_type moments;
  pass_type passes[Chunks];

  /// Zero state for every lane.
  void restart() {
    for (auto& pass : passes) clear_on<backend_of<X>>(pass.state);
  }
  /// Forward, loss and backward of one chunk: its part of the loss of the whole batch, which has
  /// `terms` terms. The gradient is that chunk's alone.
  template <class Loss>
  auto differentiate(std::size_t chunk, const_view_of<X> x, auto target, Loss loss,
                     std::size_t terms, auto context) -> scalar {
    static_assert(not fused, "training: this optimizer keeps no gradient; it has `step` alone");
    auto& pass = passes[chunk];
    clear_parameters(pass.gradient);
    auto const value = forward_and_slope(pass, x, target, loss, terms, context);
    backward(pass, x, context);
    return value;
  }
  /// The same of a chunk that has no example.
  void differentiate_nothing(std::size_t chunk) {
    clear_parameters(passes[chunk].gradient);
    clear_on<backend_of<X>>(passes[chunk].observed);
  }
  /// Adds the gradients of all chunks to the first, by halves: 0 + 1, 2 + 3, then 0 + 2; what they
  /// observed is folded in the same order.
  auto gradient() -> parameters_type& {
    for (auto distance = std::size_t{1}; distance < Chunks; distance *= 2)
      for (auto c = std::size_t{0}; c + distance < Chunks; c += 2 * distance) {
        for_numbers([](auto sum, auto part) { sum += part; }, passes[c].gradient,
                    passes[c + distance].gradient);
        fold_observed<model>(passes[c].observed, passes[c + distance].observed);
      }
    return passes[0].gradient;
  }
  void update(Optimizer const& optimizer) {
    optimizer.update(parameters, passes[0].gradient, moments);
    absorb_observed<model>(statistics, passes[0].observed);
  }

  /// One step on a batch of one chunk: forward, loss, backward, update. Returns the loss. Where
  /// that is no finite number, parameters and moments stay as they are; the state may need a
  /// restart. On a device no host waits for the loss, and every step updates.
  ///
  /// A model with dropout needs random_context{.seed = , .step = }, which may be within given(c);
  /// plain_context{} says that it trains without.
  template <class Input, class Target, class Loss, class Given = Optimizer,
            class Context = detail::no_context>
    requires(Chunks == 1)
  auto step(Input const& x, Target const& target, Loss loss, Given const& optimizer,
            Context context = {}) -> scalar {
    using from_type = typename detail::tensor_given<Input>::kind;
    using to_type = typename detail::tensor_given<Target>::kind;
    using wanted = detail::target_wanted<Loss, output, Target>;
    using x_shape = typename detail::tensor_given<Input>::shape_type;
    using target_shape = typename detail::tensor_given<Target>::shape_type;
    using expected_x = complaint::expected<shape_of<X>>;
    using expected_target = complaint::expected<shape_of<wanted>>;
    using got_target = complaint::got<target_shape>;
    using random_layer = typename decltype(detail::position_without<
                                           detail::draws_nothing, Model, X, call_type,
                                           about_of<model>.random &&
                                               not detail::says_what_to_draw<Context>>())::type;
    constexpr auto x_fits = std::same_as<from_type, X>;
    constexpr auto target_fits = std::same_as<to_type, wanted>;
    constexpr auto draws_rightly = std::same_as<random_layer, complaint::none>;
    constexpr auto optimizer_fits =
        requires(Given const& own, void (&take)(Optimizer const&)) { take(own); };
    constexpr auto shape_fits = std::same_as<x_shape, shape_of<X>>;
    constexpr auto scalar_fits = x_fits || not shape_fits;
    constexpr auto target_shape_fits = not x_fits || std::same_as<target_shape, shape_of<wanted>>;
    constexpr auto target_scalar_fits = not x_fits || target_fits || not target_shape_fits;
    constexpr auto extents_known =
        detail::extents_are_known<Input> && detail::extents_are_known<Target>;
    static_assert(complaint::holds<shape_fits, expected_x, complaint::got<x_shape>>,
                  "training: the input must have the shape that the training was made for");
    static_assert(complaint::holds<scalar_fits, complaint::expected<X>, complaint::got<from_type>>,
                  "training: the input must have the scalar type that the training was made for");
    static_assert(
        complaint::holds<target_shape_fits, complaint::in<Loss>, expected_target, got_target>,
        "training: the target must have the shape that the loss takes for this output");
    static_assert(
        complaint::holds<target_scalar_fits, complaint::expected<wanted>, complaint::got<to_type>>,
        "training: the target must have the scalar type that the loss takes");
    constexpr auto sized = extents_known || not x_fits || not target_fits;
    static_assert(complaint::holds<sized, from_type>,
                  "a tensor with bounded extents needs its actual ones: x.sized(n)");
    static_assert(
        complaint::holds<optimizer_fits, complaint::expected<Optimizer>, complaint::got<Given>>,
        "training: the optimizer must be the one that the training was made for");
    static_assert(complaint::holds<draws_rightly, random_layer>,
                  "training: this layer draws numbers; pass random_context{.seed = , .step = }, or "
                  "plain_context{} to train without");
    if constexpr (not x_fits || not target_fits || not extents_known || not draws_rightly ||
                  not optimizer_fits) {
      return {};
    } else if constexpr (fused) {
      auto const from = as_const(x);
      auto const to = as_const(target);
      auto& pass = passes[0];
      auto const value = forward_and_slope(pass, from, to, loss, loss.terms(to), context);
      if (not may_update(value)) return value;
      auto const dy = view_of<output>{pass.dy.data(), output_extents<model>(from.actual)};
      assign(dy, dy * static_cast<scalar>(-optimizer.rate));
      static_assert(not has_statistics, "a fused update is for models without statistics");
      pass.backward(parameters, from, without_memory<X>(from.actual), parameters, context);
      return value;
    } else {
      auto const to = as_const(target);
      auto const value = differentiate(0, as_const(x), to, loss, loss.terms(to), context);
      if (may_update(value)) update(optimizer);
      return value;
    }
  }
  /// Tells what a step takes.
  template <class... Given>
    requires(Chunks == 1 && sizeof...(Given) < 4)
  auto step(Given const&...) -> scalar {
    constexpr auto are_four = sizeof...(Given) == 4;
    static_assert(complaint::holds<are_four, Given...>,
                  "training: step(x, target, loss, optimizer) takes four things");
    return {};
  }

 private:
  void backward(pass_type& pass, const_view_of<X> x, auto const& context) {
    if constexpr (has_statistics)
      pass.backward(parameters, statistics, x, context);
    else
      pass.backward(parameters, x, context);
  }
  [[nodiscard]] static constexpr auto may_update([[maybe_unused]] scalar loss) -> bool {
    if constexpr (on_device<backend_of<X>>)
      return true;
    else
      return detail::is_finite(loss);
  }
  /// The loss, and its slope in pass.dy.
  auto forward_and_slope(pass_type& pass, const_view_of<X> x, auto target, auto loss,
                         std::size_t terms, auto context) -> scalar {
    auto const own_target = [&] {
      if constexpr (tensor_like<decltype(target)>)
        return not detail::lies_apart(*this, target);
      else
        return false;
    }();
    require(
        detail::lies_apart(*this, x) && not own_target &&
            detail::lies_apart(*this, as_context(context).template as<call_type>()),
        "training: input or target is memory of the training, such as its last outputs: copy it "
        "first");
    auto const y = [&] {
      if constexpr (has_statistics)
        return pass.forward(parameters, statistics, x, context);
      else
        return pass.forward(parameters, x, context);
    }();
    auto const dy = view_of<output>{pass.dy.data(), y.actual};
    auto const scale = terms == 0 ? scalar{0} : scalar{1} / static_cast<scalar>(terms);
    return loss.value_and_slope(y, target, dy, scale);
  }
};

}  // namespace tessera
