// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/memory.hpp>
#include <tessera/tensor/whole.hpp>

/// Objects that own what a model needs: plain types with a size, for a static variable, an arena or
/// one aligned allocation. The parameters are elsewhere: in flash, shared, or being trained.
namespace tessera {

/// One call for a whole input.
///
/// Shapes  X is a tensor type, the input; y its output
/// State   zero at each call; `resume` goes on from the state that the call before left
/// Cost    allocates nothing; sizeof is memory_of<Model, X, mode::inference>.object
/// Errors  a shape that the model refuses: tests/fail/inference_wrong_model.cpp,
///         tests/fail/inference_wrong_input.cpp
template <class Model, class X> struct inference {
  static_assert(error::every_layer_accepts_its_input<verdict<Model, X>>,
                "a layer is given a shape it does not take");
  using model = checked<Model, X>;
  using input = X;
  using output = output_of<model, X>;

  output y;
  [[no_unique_address]] state_of<model, X, mode::inference> state;
  [[no_unique_address]] scratch_of<model, X, mode::inference> scratch;

  template <contiguous Input>
  auto operator()(auto const& p, Input const& x) -> const_view_of<output> {
    static_assert(is_input<Model, X, Input>, "the model was made for another input shape");
    if constexpr (is_input<Model, X, Input>) {
      clear_on<backend_of<X>>(state);
      return resume(p, x);
    } else {
      return {};
    }
  }
  template <contiguous Input>
  auto resume(auto const& p, Input const& x, auto context) -> const_view_of<output> {
    static_assert(is_input<Model, X, Input>, "the model was made for another input shape");
    if constexpr (is_input<Model, X, Input>) {
      auto const from = as_const(x);
      auto const to = view_of<output>{y.data(), output_extents<model>(from.actual)};
      auto tape = nothing{};
      model::forward(p, from, to, lend<mode::inference>(state, tape, scratch, context));
      return to;
    } else {
      return {};
    }
  }
  template <contiguous Input> auto resume(auto const& p, Input const& x) -> const_view_of<output> {
    return resume(p, x, plain_context{});
  }
};

/// Sample by sample; reset is `clear(state)`. X is the type of one sample.
///
/// Cost    a step allocates nothing; its time does not depend on the ones before
/// Errors  a layer without a step: tests/fail/streaming_no_step.cpp
template <class Model, class X> struct streaming {
  static_assert(error::holds<streams<as_layer<Model>>, error::in<Model>>,
                "a layer of this model has no step");
  using answer = std::conditional_t<streams<as_layer<Model>>, verdict<Model, X>, error::none>;
  static_assert(error::every_layer_accepts_its_input<answer>,
                "a layer is given a shape it does not take");
  using model = checked<Model, X>;
  using input = X;
  using output = output_of<model, X>;

  output y;
  [[no_unique_address]] state_of<model, X, mode::streaming> state;
  [[no_unique_address]] scratch_of<model, X, mode::streaming> scratch;

  template <contiguous Input> auto step(auto const& p, Input const& x) -> const_view_of<output> {
    static_assert(is_input<Model, X, Input>, "the model was made for another input shape");
    if constexpr (is_input<Model, X, Input>) {
      auto const from = as_const(x);
      auto const to = view_of<output>{y.data(), output_extents<model>(from.actual)};
      auto tape = nothing{};
      forward_or_step<model>(p, from, to,
                             lend<mode::streaming>(state, tape, scratch, plain_context{}));
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
///         where the tape was
template <class Model, class X,
          class Gradient = parameters_of<checked<Model, X>, owned<scalar_of<X>, backend_of<X>>>>
struct differentiation {
  static_assert(error::every_layer_accepts_its_input<verdict<Model, X>>,
                "a layer is given a shape it does not take");
  using model = checked<Model, X>;
  using input = X;
  using output = output_of<model, X>;
  using scalar = scalar_of<X>;
  using parameters_type = parameters_of<model, owned<scalar, backend_of<X>>>;

  [[no_unique_address]] Gradient gradient;
  output y;
  output dy;
  [[no_unique_address]] state_of<model, X, mode::training> state;
  [[no_unique_address]] tape_of<model, X> tape;
  [[no_unique_address]] scratch_of<model, X, mode::training> scratch;
  alignas(storage_alignment) bool has_tape;

  template <contiguous Input>
  auto forward(auto const& p, Input const& x, auto context) -> const_view_of<output> {
    static_assert(is_input<Model, X, Input>, "the model was made for another input shape");
    auto const from = as_const(x);
    auto const to = view_of<output>{y.data(), output_extents<model>(from.actual)};
    model::forward(p, from, to, lend<mode::training>(state, tape, scratch, context));
    if constexpr (not on_device<backend_of<X>>) has_tape = true;
    return to;
  }
  template <contiguous Input> auto forward(auto const& p, Input const& x) -> const_view_of<output> {
    return forward(p, x, plain_context{});
  }
  /// Reads dy and what forward left, and writes dx unless it has no memory. Adds to `into`: the
  /// gradient, or views without memory for a model that is frozen.
  template <contiguous Input>
  void backward(auto const& p, Input const& x, view_of<X> dx, auto& into, auto context) {
    auto const from = as_const(x);
    auto const actual = output_extents<model>(from.actual);
    if constexpr (not on_device<backend_of<X>>) {
      require(has_tape, "backward: each needs a forward before it");
      has_tape = false;
    }
    model::backward(p, from, const_view_of<output>{y.data(), actual},
                    const_view_of<output>{dy.data(), actual}, dx, into,
                    lend<mode::training>(state, tape, scratch, context));
  }
  /// The same without dx, into `gradient`.
  template <contiguous Input> void backward(auto const& p, Input const& x, auto context) {
    backward(p, x, without_memory<X>(as_const(x).actual), gradient, context);
  }
  template <contiguous Input> void backward(auto const& p, Input const& x) {
    backward(p, x, plain_context{});
  }
};

}  // namespace tessera
