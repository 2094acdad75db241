// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/composition.hpp>

namespace tessera {

/// The numbers that a model learns.
template <class Model>
inline constexpr std::size_t parameter_count =
    detail::numbers_in<parameters_of<as_layer<Model>, counted>>();

namespace detail {

template <class P> struct storage_named {
  template <class> static constexpr bool fits = true;
};
template <template <class> class P, class Storage> struct storage_named<P<Storage>> {
  template <class L>
  static constexpr bool fits = std::same_as<P<Storage>, parameters_of<L, Storage>>;
};

}  // namespace detail

/// True where P can be the parameters of layer L, in whatever storage; of structs that do not name
/// their storage, always.
template <class L, class P>
inline constexpr bool are_parameters_of =
    detail::storage_named<std::remove_cvref_t<P>>::template fits<L>;

/// True where a tensor or view can be the input X of a model made for it.
template <class X, class Input>
inline constexpr bool is_input =
    std::same_as<shape_of<Input>, shape_of<X>> && std::same_as<scalar_of<Input>, scalar_of<X>> &&
    std::same_as<backend_of<Input>, backend_of<X>>;

/// The bytes that a model needs for inputs of type X: constants, equal to what is used.
struct memory_report {
  std::size_t parameters = 0;
  std::size_t statistics = 0;
  std::size_t gradient = 0;
  std::size_t moments = 0;
  std::size_t state = 0;
  std::size_t kept = 0;     ///< from forward to backward
  std::size_t scratch = 0;  ///< work of a pass, forward or backward
  std::size_t output = 0;   ///< y, and in training dy
  std::size_t object = 0;   ///< the object that owns it all: inference, streaming or training
  std::size_t total = 0;    ///< with the parameters and statistics
};

namespace detail {

struct no_optimizer {
  template <class> struct moments {};
};

/// Work memory of a whole model: its scratch and its slopes, which never live together.
template <class L, class X, class Call>
using work_of = work_arena<aligned(
    more_bytes(bytes_of<scratch_of<L, X, Call>>, bytes_of<slopes_of<L, X, Call>>))>;
/// That memory as a W.
template <class W> [[nodiscard]] auto work_as(auto& work) -> W& {
  if constexpr (is_empty<W>)
    return empty_object<W>;
  else
    return work.template at<W>(0);
}

}  // namespace detail

/// True for an optimizer whose update goes into the parameters in the backward pass.
template <class Optimizer>
inline constexpr bool fuses_update = requires { requires Optimizer::fused; };

template <class Model, class X, call_mode Mode, class Optimizer = detail::no_optimizer,
          class... Inputs>
inline constexpr auto memory_of = [] {
  using Call = call_for<Mode, Inputs...>;
  using found = model_verdict<Model, X, Call>;
  static_assert(complaint::every_part_is_a_layer<found>,
                "a part of the model is no layer, as relu_layer is one and relu_layer() is none");
  static_assert(complaint::every_layer_accepts_its_input<found>,
                "a layer is given a shape it does not take");
  static_assert(complaint::every_forward_is_an_expression<found>,
                "forward-only: `forward(p, x)` must be one expression of p and x");
  static_assert(complaint::every_layer_keeps_the_contract<found>,
                "a layer does not say what the contract of layers asks for");
  static_assert(complaint::every_input_is_given<found>,
                "a layer needs an input that the call is not given: memory_of<Model, X, Mode, "
                "Optimizer, given_as<Tag, E>...>");
  using L = checked_layer<Model, X, Call>;
  using P = parameters_of<L, storage_of<X>>;
  auto m = memory_report{};
  m.parameters = bytes_of<P>;
  m.statistics = bytes_of<statistics_of<L, storage_of<X>>>;
  m.state = bytes_of<state_of<L, X, Call>>;
  m.scratch = bytes_of<detail::work_of<L, X, Call>>;
  m.kept = bytes_of<kept_of<L, X, Call>>;
  m.output = sizeof(output_of<L, X>);
  if constexpr (Mode == call_mode::training) {
    m.gradient = fuses_update<Optimizer> ? 0 : bytes_of<P>;
    m.moments = bytes_of<typename Optimizer::template moments<P>>;
    m.output *= 2;
    m.object = storage_alignment;  // whether there is a forward pass to go back through
    m.object += bytes_of<observed_of<L, storage_of<X>>>;
  }
  m.object += m.gradient + m.state + m.kept + m.scratch + m.output;
  m.total = m.object + m.parameters + m.statistics + m.moments;
  return m;
}();

}  // namespace tessera
