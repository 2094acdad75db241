// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/memory.hpp>
#include <tessera/tensor/whole.hpp>

/// Objects that own what a model needs: plain types with a size, for a static variable, an arena or
/// one aligned allocation. The parameters are elsewhere: in flash, shared, or being trained; so are
/// the statistics of a model that has some, which stand behind the parameters in every call.
namespace tessera {

namespace detail {

/// One message for each mistake in a call: of another input, parameters, or inputs by tag.
template <class Model, class L, class X, class Call, class P, class Input, class Context>
[[nodiscard]] consteval auto is_call() -> bool {
  constexpr auto shapes = std::same_as<shape_of<Input>, shape_of<X>>;
  constexpr auto scalars = std::same_as<scalar_of<Input>, scalar_of<X>>;
  constexpr auto backends = std::same_as<backend_of<Input>, backend_of<X>>;
  constexpr auto parameters = are_parameters_of<L, P>;
  constexpr auto inputs = Context::template covers<Call>;
  static_assert(error::shapes_match<error::in<Model>, error::expected<shape_of<X>>,
                                    error::got<shape_of<Input>>>,
                "the model was made for another input shape");
  static_assert(not shapes || error::holds<scalars, error::in<Model>, error::expected<scalar_of<X>>,
                                           error::got<scalar_of<Input>>>,
                "the model was made for inputs of another scalar type");
  static_assert(not shapes || not scalars ||
                    error::holds<backends, error::in<Model>, error::expected<backend_of<X>>,
                                 error::got<backend_of<Input>>>,
                "the model was made for inputs of another backend");
  static_assert(error::holds<parameters, error::in<Model>, error::got<P>>,
                "the parameters are those of another model");
  static_assert(error::holds<inputs, error::in<Model>, error::expected<Call>, error::got<Context>>,
                "the call gives other inputs than the object was made for");
  return shapes && scalars && backends && parameters && inputs;
}

/// Statistics of a model that has none.
inline constexpr auto no_statistics = nothing{};

template <class L, class X>
concept has_statistics = not std::is_empty_v<statistics_of<L, storage_of<X>>>;

}  // namespace detail

/// One call for a whole input.
///
/// Shapes  X is a tensor type, the input; y its output; Inputs are given_as<Tag, E> of the inputs
/// that
///         calls give besides it
/// State   zero at each call; `resume` goes on from the state that the call before left
/// Cost    allocates nothing; sizeof is memory_of<Model, X, mode::inference>.object
/// Errors  a shape that the model refuses: tests/fail/inference_wrong_model.cpp,
///         tests/fail/inference_wrong_input.cpp
template <class Model, class X, class... Inputs> struct inference {
  using call_type = call_for<mode::inference, Inputs...>;
  using found = model_verdict<Model, X, call_type>;
  static_assert(error::every_layer_accepts_its_input<found>,
                "a layer is given a shape it does not take");
  static_assert(error::every_layer_keeps_the_contract<found>,
                "a layer does not say what the contract of layers asks for");
  static_assert(error::every_input_is_given<found>,
                "a layer needs an input that the object is not made for");
  using model = checked<Model, X, call_type>;
  using input = X;
  using output = output_of<model, X>;
  using storage = storage_of<X>;

  output y;
  using state_type = state_of<model, X, call_type>;
  using kept_type = kept_of<model, X, call_type>;
  using scratch_type = scratch_of<model, X, call_type>;
  [[no_unique_address]] detail::stored<state_type, 0> state;
  [[no_unique_address]] detail::stored<kept_type, 1> kept;
  [[no_unique_address]] detail::stored<scratch_type, 2> scratch;

  template <contiguous Input, class Context = plain_context>
    requires(not detail::has_statistics<model, X>)
  auto operator()(auto const& p, Input const& x, Context const& c = {}) -> const_view_of<output> {
    clear_on<backend_of<X>>(state);
    return resume(p, x, c);
  }
  template <contiguous Input, class Context = plain_context>
    requires detail::has_statistics<model, X>
  auto operator()(auto const& p, auto const& statistics, Input const& x, Context const& c = {})
      -> const_view_of<output> {
    clear_on<backend_of<X>>(state);
    return resume(p, statistics, x, c);
  }
  template <contiguous Input, class Context = plain_context>
    requires(not detail::has_statistics<model, X>)
  auto resume(auto const& p, Input const& x, Context const& c = {}) -> const_view_of<output> {
    return run(p, empty_object<statistics_of<model, storage>>, x, as_context(c));
  }
  template <contiguous Input, class Context = plain_context>
    requires detail::has_statistics<model, X>
  auto resume(auto const& p, auto const& statistics, Input const& x, Context const& c = {})
      -> const_view_of<output> {
    return run(p, statistics, x, as_context(c));
  }

 private:
  template <class P, class Input, class Context>
  auto run(P const& p, auto const& statistics, Input const& x, Context const& c)
      -> const_view_of<output> {
    if constexpr (detail::is_call<Model, model, X, call_type, P, Input, Context>()) {
      auto const from = as_const(x);
      auto const to = view_of<output>{y.data(), output_extents<model>(from.actual)};
      auto const given = c.template as<call_type>();
      model::forward(
          p, from, to,
          loan<model, X, call_type, scratch_type, std::remove_const_t<decltype(given)>>{
              detail::stored_as<state_type>(state), detail::stored_as<kept_type>(kept),
              detail::stored_as<scratch_type>(scratch), statistics, empty_object<nothing>, given});
      return to;
    } else {
      return {};
    }
  }
};

/// Sample by sample; reset is `clear(state)`. X is the type of one sample.
///
/// Cost    a step allocates nothing; its time does not depend on the ones before
/// Errors  a layer without a step: tests/fail/streaming_no_step.cpp
template <class Model, class X, class... Inputs> struct streaming {
  using call_type = call_for<mode::streaming, Inputs...>;
  static constexpr auto steps = streams<as_layer<Model>>;
  static_assert(error::holds<steps, error::in<Model>>, "a layer of this model has no step");
  template <bool> struct answer {
    using type = model_verdict<Model, X, call_type>;
  };
  template <class> struct no_answer {
    using type = error::none;
  };
  using found = typename std::conditional_t<steps, answer<true>, no_answer<void>>::type;
  static_assert(error::every_layer_accepts_its_input<found>,
                "a layer is given a shape it does not take");
  static_assert(error::every_layer_keeps_the_contract<found>,
                "a layer does not say what the contract of layers asks for");
  static_assert(error::every_input_is_given<found>,
                "a layer needs an input that the object is not made for");
  using model = typename std::conditional_t<steps, detail::checked_if<Model, X, call_type>,
                                            std::type_identity<refused>>::type;
  using input = X;
  using output = output_of<model, X>;
  using storage = storage_of<X>;

  output y;
  using state_type = state_of<model, X, call_type>;
  using kept_type = kept_of<model, X, call_type>;
  using scratch_type = scratch_of<model, X, call_type>;
  [[no_unique_address]] detail::stored<state_type, 0> state;
  [[no_unique_address]] detail::stored<kept_type, 1> kept;
  [[no_unique_address]] detail::stored<scratch_type, 2> scratch;

  template <contiguous Input, class Context = plain_context>
    requires(not detail::has_statistics<model, X>)
  auto step(auto const& p, Input const& x, Context const& c = {}) -> const_view_of<output> {
    return run(p, empty_object<statistics_of<model, storage>>, x, as_context(c));
  }
  template <contiguous Input, class Context = plain_context>
    requires detail::has_statistics<model, X>
  auto step(auto const& p, auto const& statistics, Input const& x, Context const& c = {})
      -> const_view_of<output> {
    return run(p, statistics, x, as_context(c));
  }

 private:
  template <class P, class Input, class Context>
  auto run(P const& p, auto const& statistics, Input const& x, Context const& c)
      -> const_view_of<output> {
    if constexpr (detail::is_call<Model, model, X, call_type, P, Input, Context>()) {
      auto const from = as_const(x);
      auto const to = view_of<output>{y.data(), output_extents<model>(from.actual)};
      auto const given = c.template as<call_type>();
      forward_or_step<model>(
          p, from, to,
          loan<model, X, call_type, scratch_type, std::remove_const_t<decltype(given)>>{
              detail::stored_as<state_type>(state), detail::stored_as<kept_type>(kept),
              detail::stored_as<scratch_type>(scratch), statistics, empty_object<nothing>, given});
      return to;
    } else {
      return {};
    }
  }
};

/// Stands for a gradient that nobody keeps: the update goes into the parameters at once.
struct no_gradient {};

/// Forward and backward of one batch, or of one chunk of it.
///
/// State   zero at first; carried from one forward to the next
/// Cost    allocates nothing; sizeof is memory_of<Model, X, mode::training>.object, without its
///         gradient where Gradient is no_gradient
/// Errors  a backward without a forward before it breaks the contract: layers compute their slopes
///         where they kept what they need
template <class Model, class X, class Gradient, class... Inputs> struct differentiation_into {
  using call_type = call_for<mode::training, Inputs...>;
  using found = model_verdict<Model, X, call_type>;
  static_assert(error::every_layer_accepts_its_input<found>,
                "a layer is given a shape it does not take");
  static_assert(error::every_layer_keeps_the_contract<found>,
                "a layer does not say what the contract of layers asks for");
  static_assert(error::every_input_is_given<found>,
                "a layer needs an input that the object is not made for");
  using model = checked<Model, X, call_type>;
  using input = X;
  using output = output_of<model, X>;
  using storage = storage_of<X>;
  using scalar = model_scalar<X>;
  using parameters_type = parameters_of<model, storage>;
  using statistics_type = statistics_of<model, storage>;
  using gradient_type = std::conditional_t<std::is_void_v<Gradient>, parameters_type, Gradient>;

  using state_type = state_of<model, X, call_type>;
  using kept_type = kept_of<model, X, call_type>;
  using observed_type = observed_of<model, storage>;
  using work_type = detail::work_of<model, X, call_type>;
  [[no_unique_address]] gradient_type gradient;
  output y;
  output dy;
  [[no_unique_address]] detail::stored<state_type, 0> state;
  [[no_unique_address]] detail::stored<kept_type, 1> kept;
  [[no_unique_address]] detail::stored<observed_type, 2> observed;
  [[no_unique_address]] detail::stored<work_type, 3> work;
  alignas(storage_alignment) bool has_kept;

  template <contiguous Input, class Context = plain_context>
    requires(not detail::has_statistics<model, X>)
  auto forward(auto const& p, Input const& x, Context const& c = {}) -> const_view_of<output> {
    return run(p, empty_object<statistics_type>, x, as_context(c));
  }
  template <contiguous Input, class Context = plain_context>
    requires detail::has_statistics<model, X>
  auto forward(auto const& p, auto const& statistics, Input const& x, Context const& c = {})
      -> const_view_of<output> {
    return run(p, statistics, x, as_context(c));
  }
  /// Reads dy and what forward left, and writes dx unless it has no memory. Adds to `into`: the
  /// gradient, or views without memory for a model that is frozen.
  template <contiguous Input, class Context>
    requires(not detail::has_statistics<model, X>)
  void backward(auto const& p, Input const& x, view_of<X> dx, auto& into, Context const& c) {
    run_back(p, empty_object<statistics_type>, x, dx, into, as_context(c));
  }
  template <contiguous Input, class Context>
    requires detail::has_statistics<model, X>
  void backward(auto const& p, auto const& statistics, Input const& x, view_of<X> dx, auto& into,
                Context const& c) {
    run_back(p, statistics, x, dx, into, as_context(c));
  }
  /// The same without dx, into `gradient`.
  template <contiguous Input, class Context = plain_context>
    requires(not detail::has_statistics<model, X>)
  void backward(auto const& p, Input const& x, Context const& c = {}) {
    backward(p, x, without_memory<X>(as_const(x).actual), gradient, c);
  }
  template <contiguous Input, class Context = plain_context>
    requires detail::has_statistics<model, X>
  void backward(auto const& p, auto const& statistics, Input const& x, Context const& c = {}) {
    backward(p, statistics, x, without_memory<X>(as_const(x).actual), gradient, c);
  }

 private:
  template <class Work> auto lend(Work& memory, auto const& statistics, auto const& given) {
    return loan<model, X, call_type, Work, std::remove_cvref_t<decltype(given)>>{
        detail::stored_as<state_type>(state),
        detail::stored_as<kept_type>(kept),
        memory,
        statistics,
        detail::stored_as<observed_type>(observed),
        given};
  }
  template <class P, class Input, class Context>
  auto run(P const& p, auto const& statistics, Input const& x, Context const& c)
      -> const_view_of<output> {
    if constexpr (detail::is_call<Model, model, X, call_type, P, Input, Context>()) {
      auto const from = as_const(x);
      auto const to = view_of<output>{y.data(), output_extents<model>(from.actual)};
      auto& memory = detail::work_as<scratch_of<model, X, call_type>>(work);
      model::forward(p, from, to, lend(memory, statistics, c.template as<call_type>()));
      if constexpr (not on_device<backend_of<X>>) has_kept = true;
      return to;
    } else {
      return {};
    }
  }
  template <class P, class Input, class Context>
  void run_back(P const& p, auto const& statistics, Input const& x, view_of<X> dx, auto& into,
                Context const& c) {
    if constexpr (detail::is_call<Model, model, X, call_type, P, Input, Context>()) {
      auto const from = as_const(x);
      auto const actual = output_extents<model>(from.actual);
      if constexpr (not on_device<backend_of<X>>) {
        require(has_kept, "backward: each needs a forward before it");
        has_kept = false;
      }
      auto& memory = detail::work_as<slopes_of<model, X, call_type>>(work);
      model::backward(p, from, const_view_of<output>{y.data(), actual},
                      const_view_of<output>{dy.data(), actual}, writes(dx), into,
                      lend(memory, statistics, c.template as<call_type>()));
    }
  }
};
template <class Model, class X, class... Inputs>
using differentiation = differentiation_into<Model, X, void, Inputs...>;

namespace detail {
template <class Model, class X, class Context> struct inference_in;
template <class Model, class X, class Stream, class... Inputs>
struct inference_in<Model, X, context<Stream, Inputs...>> {
  using type = inference<Model, X, Inputs...>;
};
template <class Model, class X, class Context> struct differentiation_in;
template <class Model, class X, class Stream, class... Inputs>
struct differentiation_in<Model, X, context<Stream, Inputs...>> {
  using type = differentiation_into<Model, X, void, Inputs...>;
};
}  // namespace detail

/// The objects for calls with such a context.
template <class Model, class X, class Context>
using inference_for = typename detail::inference_in<Model, X, context_of<Context>>::type;
template <class Model, class X, class Context>
using differentiation_for =
    typename detail::differentiation_in<Model, X, context_of<Context>>::type;

}  // namespace tessera
