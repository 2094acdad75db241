// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/sequential.hpp>

namespace tessera {

/// The numbers that a model learns.
template <class Model>
inline constexpr std::size_t parameter_count =
    detail::numbers_in<parameters_of<as_layer<Model>, counted>>();

/// True where a tensor or view can be the input X of a model made for it.
template <class Model, class X, class Input>
inline constexpr bool is_input =
    std::same_as<shape_of<Input>, shape_of<X>> && std::same_as<scalar_of<Input>, scalar_of<X>> &&
    std::same_as<backend_of<Input>, backend_of<X>>;

/// The bytes that a model needs for inputs of type X: constants, equal to what is used.
struct memory {
  std::size_t parameters = 0;
  std::size_t gradient = 0;
  std::size_t moments = 0;
  std::size_t state = 0;
  std::size_t tape = 0;
  std::size_t scratch = 0;
  std::size_t output = 0;  ///< y, and in training dy
  std::size_t object = 0;  ///< the object that owns it all: inference, streaming or training
  std::size_t total = 0;   ///< with the parameters
};

namespace detail {
struct no_optimizer {
  template <class> struct moments {};
};
}  // namespace detail

/// True for an optimizer whose update goes into the parameters in the backward pass.
template <class Optimizer>
inline constexpr bool fuses_update = requires { requires Optimizer::fused; };

template <class Model, class X, mode Mode, class Optimizer = detail::no_optimizer>
inline constexpr auto memory_of = [] {
  static_assert(error::every_layer_accepts_its_input<verdict<Model, X>>,
                "a layer is given a shape it does not take");
  using L = checked<Model, X>;
  using P = parameters_of<L, owned<scalar_of<X>, backend_of<X>>>;
  auto m = memory{};
  m.parameters = bytes_of<P>;
  m.state = bytes_of<state_of<L, X, Mode>>;
  m.scratch = bytes_of<scratch_of<L, X, Mode>>;
  m.output = sizeof(output_of<L, X>);
  if constexpr (Mode == mode::training) {
    m.gradient = fuses_update<Optimizer> ? 0 : bytes_of<P>;
    m.moments = bytes_of<typename Optimizer::template moments<P>>;
    m.tape = bytes_of<tape_of<L, X>>;
    m.output *= 2;
  }
  if constexpr (Mode == mode::training) m.object = storage_alignment;  // whether there is a tape
  m.object += m.gradient + m.state + m.tape + m.scratch + m.output;
  m.total = m.object + m.parameters + m.moments;
  return m;
}();

}  // namespace tessera
