// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/memory.hpp>
#include <tessera/tensor/node/base.hpp>
#include <tessera/tensor/whole.hpp>

/// Objects that own what a model needs: plain types with a size, for a static variable, an arena or
/// one aligned allocation. The parameters are elsewhere: in flash, shared, or being trained; so are
/// the statistics of a model that has some, which stand behind the parameters in every call.
namespace tessera {

namespace detail {

// One question for each mistake in a call; the later ones are not asked where an earlier is wrong.
template <class Expected, class Got> inline constexpr bool input_is_a_tensor = contiguous<Got>;
template <class Expected, class Got> inline constexpr bool shape_fits = true;
template <class Expected, contiguous Got>
inline constexpr bool shape_fits<Expected, Got> = std::same_as<shape_of<Got>, shape_of<Expected>>;
template <class Expected, class Got> inline constexpr bool scalar_fits = true;
template <class Expected, contiguous Got>
inline constexpr bool scalar_fits<Expected, Got> =
    not shape_fits<Expected, Got> || std::same_as<scalar_of<Got>, scalar_of<Expected>>;
template <class Expected, class Got> inline constexpr bool backend_fits = true;
template <class Expected, contiguous Got>
inline constexpr bool backend_fits<Expected, Got> =
    not shape_fits<Expected, Got> || not scalar_fits<Expected, Got> ||
    std::same_as<backend_of<Got>, backend_of<Expected>>;
template <class Input> inline constexpr bool extents_are_known = true;
template <owning Input>
inline constexpr bool extents_are_known<Input> = fixed_shape<shape_of<Input>>;
template <class Call, class Context>
inline constexpr bool inputs_fit = context_of<Context>::template covers<Call>;

template <class L, class X, class Call, class P, class Input, class Context>
concept call_fits = contiguous<Input> && is_input<X, Input> && are_parameters_of<L, P> &&
                    inputs_fit<Call, Context> && extents_are_known<Input>;

/// An object writes its answer and its state while layers still read what came in.
inline constexpr auto reads_no_own_memory =
    "the input is memory of the object that reads it, such as its last answer: copy it first";

/// The memory of an object is not that of x: one comparison, of the distance between their ends.
/// Where no one can be told, on bare metal, it is not asked.
template <class Object>
[[nodiscard]] auto lies_apart([[maybe_unused]] Object const& object, [[maybe_unused]] auto const& x)
    -> bool {
#if TESSERA_HOSTED
  if (x.size() == 0) return true;
  auto const bytes = x.size() * sizeof(*x.data()) - 1;
  return written_memory::address(x.data()) - written_memory::address(&object) + bytes >=
         sizeof(Object) + bytes;
#else
  return true;
#endif
}
/// Nor that of the inputs of a call and their slopes.
template <class Object, class Stream, class... Tag, class... E>
[[nodiscard]] auto lies_apart(Object const& object,
                              call_context<Stream, given_as<Tag, E>...> const& given) -> bool {
  return ((lies_apart(object, given.template value<Tag>()) &&
           lies_apart(object, given.template slope<Tag>())) &&
          ...);
}
/// What a pass reads is not what it writes, where it writes at all.
[[nodiscard]] auto are_apart([[maybe_unused]] auto const& read,
                             [[maybe_unused]] auto const& written) -> bool {
#if TESSERA_HOSTED
  return written.data() == nullptr ||
         not written_memory{written.data(), written.data() + written.size()}.overlaps(
             read.data(), read.data() + read.size());
#else
  return true;
#endif
}

template <class L, class X>
concept has_statistics = not is_empty<statistics_of<L, storage_of<X>>>;

/// The model of a stream; a stand-in where it has no step.
template <class Model, class X, class Call>
using stream_model = typename either<streams<as_layer<Model>>, checked_if<Model, X, Call>,
                                     std::type_identity<refused>>::type;

/// What one call forward owns: its answer, state and work memory.
template <class Checked, class X, class Call> struct forward_object {
  using call_type = Call;
  using model = Checked;
  using input = X;
  using output = output_of<model, X>;
  using storage = storage_of<X>;
  using state_type = state_of<model, X, call_type>;
  using kept_type = kept_of<model, X, call_type>;
  using scratch_type = scratch_of<model, X, call_type>;

  output y;
  [[no_unique_address]] stored<state_type, 0> state;
  [[no_unique_address]] stored<kept_type, 1> kept;
  [[no_unique_address]] stored<scratch_type, 2> scratch;

 protected:
  template <class P, class Input, class Context>
  auto run(P const& p, auto const& statistics, Input const& x, Context const& c)
      -> const_view_of<output> {
    static_assert(extents_are_known<Input>,
                  "a tensor with bounded extents needs its actual ones: x.sized(n)");
    if constexpr (call_fits<model, X, call_type, P, Input, Context>) {
      auto const from = as_const(x);
      auto const to = view_of<output>{y.data(), output_extents<model>(from.actual)};
      auto const given = c.template as<call_type>();
      require(lies_apart(*this, from) && lies_apart(*this, given), reads_no_own_memory);
      forward_or_step<model>(
          p, from, to,
          loan<model, X, call_type, scratch_type, std::remove_const_t<decltype(given)>>{
              stored_as<state_type>(state), stored_as<kept_type>(kept),
              stored_as<scratch_type>(scratch), statistics, empty_object<nothing>, given});
      return to;
    } else {
      return {};
    }
  }
};

}  // namespace detail

/// One call for a whole input.
///
/// Shapes  X is a tensor type, the input; y its output; Inputs are given_as<Tag, E> of what
///         calls give besides it
/// State   zero at each call; `resume` goes on from the state that the call before left: that of a
///         lane is at its place among the lanes of that call: the last ones of the first axis may
///         have ended, those of a further axis go on together (std::invalid_argument). After an
///         exception, layers before the one that threw have gone on: the next call begins anew
/// Cost    allocates nothing; sizeof is memory_of<Model, X, call_mode::inference>.object
/// Errors  a shape that the model refuses: tests/fail/inference_wrong_model.cpp,
///         tests/fail/inference_wrong_input.cpp; a part that is no layer:
///         tests/fail/part_no_layer.cpp; an input that is memory of the object itself, as its last
///         answer is, breaks the contract of a hosted program: tests/compose/objects.cpp
template <class Model, class X, class... Inputs>
struct inference
    : detail::forward_object<checked_layer<Model, X, call_for<call_mode::inference, Inputs...>>, X,
                             call_for<call_mode::inference, Inputs...>> {
  using call_type = call_for<call_mode::inference, Inputs...>;
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
  using base = detail::forward_object<checked_layer<Model, X, call_type>, X, call_type>;
  using base::state;
  using typename base::model;
  using typename base::output;
  using typename base::storage;

  template <class P, class Input, class Context = plain_context>
    requires(not detail::has_statistics<model, X>)
  auto operator()(P const& p, Input const& x, Context const& c = {}) TESSERA_LIFETIMEBOUND
      -> const_view_of<output> {
    static_assert(detail::input_is_a_tensor<X, Input>,
                  "the input, behind the parameters, is a tensor or a view of one");
    static_assert(detail::shape_fits<X, Input>, "the model was made for another input shape");
    static_assert(detail::scalar_fits<X, Input>, "the model was made for another scalar type");
    static_assert(detail::backend_fits<X, Input>, "the model was made for another backend");
    static_assert(are_parameters_of<model, P>, "the parameters are those of another model");
    static_assert(detail::inputs_fit<call_type, Context>, "the model is given other inputs");
    clear_on<backend_of<X>>(state);
    return base::run(p, empty_object<statistics_of<model, storage>>, x, as_context(c));
  }
  template <class P, class Input, class Context = plain_context>
    requires detail::has_statistics<model, X>
  auto operator()(P const& p, auto const& statistics, Input const& x,
                  Context const& c = {}) TESSERA_LIFETIMEBOUND -> const_view_of<output> {
    static_assert(detail::input_is_a_tensor<X, Input>,
                  "the input, behind the parameters, is a tensor or a view of one");
    static_assert(detail::shape_fits<X, Input>, "the model was made for another input shape");
    static_assert(detail::scalar_fits<X, Input>, "the model was made for another scalar type");
    static_assert(detail::backend_fits<X, Input>, "the model was made for another backend");
    static_assert(are_parameters_of<model, P>, "the parameters are those of another model");
    static_assert(detail::inputs_fit<call_type, Context>, "the model is given other inputs");
    clear_on<backend_of<X>>(state);
    return base::run(p, statistics, x, as_context(c));
  }
  template <class P, class Input, class Context = plain_context>
    requires(not detail::has_statistics<model, X>)
  auto resume(P const& p, Input const& x, Context const& c = {}) TESSERA_LIFETIMEBOUND
      -> const_view_of<output> {
    static_assert(detail::input_is_a_tensor<X, Input>,
                  "the input, behind the parameters, is a tensor or a view of one");
    static_assert(detail::shape_fits<X, Input>, "the model was made for another input shape");
    static_assert(detail::scalar_fits<X, Input>, "the model was made for another scalar type");
    static_assert(detail::backend_fits<X, Input>, "the model was made for another backend");
    static_assert(are_parameters_of<model, P>, "the parameters are those of another model");
    static_assert(detail::inputs_fit<call_type, Context>, "the model is given other inputs");
    return base::run(p, empty_object<statistics_of<model, storage>>, x, as_context(c));
  }
  template <class P, class Input, class Context = plain_context>
    requires detail::has_statistics<model, X>
  auto resume(P const& p, auto const& statistics, Input const& x,
              Context const& c = {}) TESSERA_LIFETIMEBOUND -> const_view_of<output> {
    static_assert(detail::input_is_a_tensor<X, Input>,
                  "the input, behind the parameters, is a tensor or a view of one");
    static_assert(detail::shape_fits<X, Input>, "the model was made for another input shape");
    static_assert(detail::scalar_fits<X, Input>, "the model was made for another scalar type");
    static_assert(detail::backend_fits<X, Input>, "the model was made for another backend");
    static_assert(are_parameters_of<model, P>, "the parameters are those of another model");
    static_assert(detail::inputs_fit<call_type, Context>, "the model is given other inputs");
    return base::run(p, statistics, x, as_context(c));
  }
};

/// Sample by sample; reset is `clear(state)`. X is the type of one sample.
///
/// Cost    a step allocates nothing; its time does not depend on the ones before
/// Errors  a layer without a step: tests/fail/streaming_no_step.cpp
template <class Model, class X, class... Inputs>
struct streaming : detail::forward_object<
                       detail::stream_model<Model, X, call_for<call_mode::streaming, Inputs...>>, X,
                       call_for<call_mode::streaming, Inputs...>> {
  using call_type = call_for<call_mode::streaming, Inputs...>;
  static constexpr auto steps = streams<as_layer<Model>>;
  static_assert(complaint::holds<steps, complaint::in<Model>>, "a layer of this model has no step");
  template <bool> struct answer {
    using type = model_verdict<Model, X, call_type>;
  };
  template <class> struct no_answer {
    using type = complaint::none;
  };
  using found = typename either<steps, answer<true>, no_answer<void>>::type;
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
  using base = detail::forward_object<detail::stream_model<Model, X, call_type>, X, call_type>;
  using typename base::model;
  using typename base::output;
  using typename base::storage;

  template <class P, class Input, class Context = plain_context>
    requires(not detail::has_statistics<model, X>)
  auto step(P const& p, Input const& x, Context const& c = {}) TESSERA_LIFETIMEBOUND
      -> const_view_of<output> {
    static_assert(detail::input_is_a_tensor<X, Input>,
                  "the input, behind the parameters, is a tensor or a view of one");
    static_assert(detail::shape_fits<X, Input>, "the model was made for another input shape");
    static_assert(detail::scalar_fits<X, Input>, "the model was made for another scalar type");
    static_assert(detail::backend_fits<X, Input>, "the model was made for another backend");
    static_assert(are_parameters_of<model, P>, "the parameters are those of another model");
    static_assert(detail::inputs_fit<call_type, Context>, "the model is given other inputs");
    return base::run(p, empty_object<statistics_of<model, storage>>, x, as_context(c));
  }
  template <class P, class Input, class Context = plain_context>
    requires detail::has_statistics<model, X>
  auto step(P const& p, auto const& statistics, Input const& x,
            Context const& c = {}) TESSERA_LIFETIMEBOUND -> const_view_of<output> {
    static_assert(detail::input_is_a_tensor<X, Input>,
                  "the input, behind the parameters, is a tensor or a view of one");
    static_assert(detail::shape_fits<X, Input>, "the model was made for another input shape");
    static_assert(detail::scalar_fits<X, Input>, "the model was made for another scalar type");
    static_assert(detail::backend_fits<X, Input>, "the model was made for another backend");
    static_assert(are_parameters_of<model, P>, "the parameters are those of another model");
    static_assert(detail::inputs_fit<call_type, Context>, "the model is given other inputs");
    return base::run(p, statistics, x, as_context(c));
  }
};

/// Stands for a gradient that nobody keeps: the update goes into the parameters at once.
struct no_gradient {};

/// Forward and backward of one batch, or of one chunk of it.
///
/// State   zero at first; carried from one forward to the next
/// Cost    allocates nothing; sizeof is memory_of<Model, X, call_mode::training>.object, without
///         its gradient where Gradient is no_gradient
/// Errors  a backward without a forward before it breaks the contract: layers compute their slopes
///         where they kept what they need
template <class Model, class X, class Gradient, class... Inputs> struct differentiation_into {
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
  using model = checked_layer<Model, X, call_type>;
  using input = X;
  using output = output_of<model, X>;
  using storage = storage_of<X>;
  using scalar = model_scalar<X>;
  using parameters_type = parameters_of<model, storage>;
  using statistics_type = statistics_of<model, storage>;
  using gradient_type = either<std::is_void_v<Gradient>, parameters_type, Gradient>;

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

  template <class P, class Input, class Context = plain_context>
    requires(not detail::has_statistics<model, X>)
  auto forward(P const& p, Input const& x, Context const& c = {}) TESSERA_LIFETIMEBOUND
      -> const_view_of<output> {
    static_assert(detail::input_is_a_tensor<X, Input>,
                  "the input, behind the parameters, is a tensor or a view of one");
    static_assert(detail::shape_fits<X, Input>, "the model was made for another input shape");
    static_assert(detail::scalar_fits<X, Input>, "the model was made for another scalar type");
    static_assert(detail::backend_fits<X, Input>, "the model was made for another backend");
    static_assert(are_parameters_of<model, P>, "the parameters are those of another model");
    static_assert(detail::inputs_fit<call_type, Context>, "the model is given other inputs");
    return run(p, empty_object<statistics_type>, x, as_context(c));
  }
  template <class P, class Input, class Context = plain_context>
    requires detail::has_statistics<model, X>
  auto forward(P const& p, auto const& statistics, Input const& x,
               Context const& c = {}) TESSERA_LIFETIMEBOUND -> const_view_of<output> {
    static_assert(detail::input_is_a_tensor<X, Input>,
                  "the input, behind the parameters, is a tensor or a view of one");
    static_assert(detail::shape_fits<X, Input>, "the model was made for another input shape");
    static_assert(detail::scalar_fits<X, Input>, "the model was made for another scalar type");
    static_assert(detail::backend_fits<X, Input>, "the model was made for another backend");
    static_assert(are_parameters_of<model, P>, "the parameters are those of another model");
    static_assert(detail::inputs_fit<call_type, Context>, "the model is given other inputs");
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
    static_assert(detail::extents_are_known<Input>,
                  "a tensor with bounded extents needs its actual ones: x.sized(n)");
    if constexpr (detail::call_fits<model, X, call_type, P, Input, Context>) {
      auto const from = as_const(x);
      auto const to = view_of<output>{y.data(), output_extents<model>(from.actual)};
      auto const given = c.template as<call_type>();
      require(detail::lies_apart(*this, from) && detail::lies_apart(*this, given),
              detail::reads_no_own_memory);
      auto& memory = detail::work_as<scratch_of<model, X, call_type>>(work);
      model::forward(p, from, to, lend(memory, statistics, given));
      if constexpr (not on_device<backend_of<X>>) has_kept = true;
      return to;
    } else {
      return {};
    }
  }
  template <class P, class Input, class Context>
  void run_back(P const& p, auto const& statistics, Input const& x, view_of<X> dx, auto& into,
                Context const& c) {
    static_assert(detail::shape_fits<X, Input>, "the model was made for another input shape");
    static_assert(detail::scalar_fits<X, Input>, "the model was made for another scalar type");
    static_assert(detail::backend_fits<X, Input>, "the model was made for another backend");
    static_assert(are_parameters_of<model, P>, "the parameters are those of another model");
    static_assert(detail::inputs_fit<call_type, Context>, "the model is given other inputs");
    if constexpr (detail::call_fits<model, X, call_type, P, Input, Context>) {
      auto const from = as_const(x);
      auto const actual = output_extents<model>(from.actual);
      if constexpr (not on_device<backend_of<X>>) {
        require(has_kept, "backward: each needs a forward before it");
        has_kept = false;
      }
      auto const given = c.template as<call_type>();
      require(detail::lies_apart(*this, given), detail::reads_no_own_memory);
      require(detail::lies_apart(*this, dx), "backward: dx is memory of the object that reads dy");
      require(detail::are_apart(from, dx),
              "backward: dx is memory of the input that it belongs to");
      auto& memory = detail::work_as<slopes_of<model, X, call_type>>(work);
      model::backward(p, from, const_view_of<output>{y.data(), actual},
                      const_view_of<output>{dy.data(), actual}, writes(dx), into,
                      lend(memory, statistics, given));
    }
  }
};
template <class Model, class X, class... Inputs>
using differentiation = differentiation_into<Model, X, void, Inputs...>;

namespace detail {
template <class Model, class X, class Context> struct inference_in;
template <class Model, class X, class Stream, class... Inputs>
struct inference_in<Model, X, call_context<Stream, Inputs...>> {
  using type = inference<Model, X, Inputs...>;
};
template <class Model, class X, class Context> struct differentiation_in;
template <class Model, class X, class Stream, class... Inputs>
struct differentiation_in<Model, X, call_context<Stream, Inputs...>> {
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
