// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/objects.hpp>
#include <tessera/optim/clipping.hpp>
#include <tessera/optim/optimizer.hpp>

namespace tessera {

/// Sets every number of a struct of parameters, padding included, to zero.
template <class P> constexpr void clear_parameters(P& p) {
  if constexpr (owns_parameters<P>)
    clear_on<backend_of<detail::first_owned_t<P>>>(p);
  else
    clear(p);
}

/// All that training a model takes: parameters, moments and a differentiation for each chunk of the
/// batch.
///
/// A batch is cut into Chunks parts, whatever the number of threads; a fixed tree adds their
/// gradients, so that the bits do not depend on who computed what.
///
/// Shapes  X is the tensor type of one chunk
/// State   passes[c].state is carried from step to step; `restart` makes it zero
/// Cost    allocates nothing; sizeof is Chunks·memory_of<Model, X, mode::training>.object and
///         parameters and moments
template <class Model, class X, class Optimizer, std::size_t Chunks = 1> struct training {
  static_assert(error::every_layer_accepts_its_input<verdict<Model, X>>,
                "a layer is given a shape it does not take");
  using pass_type = differentiation<Model, X>;
  using model = typename pass_type::model;
  using input = X;
  using output = typename pass_type::output;
  using optimizer_type = Optimizer;
  using scalar = scalar_of<X>;
  using parameters_type = typename pass_type::parameters_type;
  using moments_type = typename Optimizer::template moments<parameters_type>;
  static constexpr auto chunks = Chunks;

  parameters_type parameters;
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
    auto& pass = passes[chunk];
    clear_parameters(pass.gradient);
    auto const y = pass.forward(parameters, x, context);
    auto const dy = view_of<output>{pass.dy.data(), y.actual};
    auto const scale = scalar{1} / static_cast<scalar>(terms);
    auto const value = loss.value_and_slope(y, target, dy, scale);
    pass.backward(parameters, x, context);
    return value;
  }
  /// Adds the gradients of all chunks to the first, by halves: 0 + 1, 2 + 3, then 0 + 2.
  auto gradient() -> parameters_type& {
    for (auto distance = std::size_t{1}; distance < Chunks; distance *= 2)
      for (auto c = std::size_t{0}; c + distance < Chunks; c += 2 * distance)
        for_numbers([](auto sum, auto part) { sum += part; }, passes[c].gradient,
                    passes[c + distance].gradient);
    return passes[0].gradient;
  }
  void update(Optimizer const& optimizer) {
    optimizer.update(parameters, passes[0].gradient, moments);
  }

  /// One step on a batch of one chunk: forward, loss, backward, update. Returns the loss.
  template <contiguous Input, contiguous Target, class Loss>
    requires(Chunks == 1)
  auto step(Input const& x, Target const& target, Loss loss, Optimizer const& optimizer,
            auto context) -> scalar {
    auto const from = as_const(x);
    auto const to = as_const(target);
    auto const value = differentiate(0, from, to, loss, loss.terms(to), context);
    update(optimizer);
    return value;
  }
  template <contiguous Input, contiguous Target, class Loss>
    requires(Chunks == 1)
  auto step(Input const& x, Target const& target, Loss loss, Optimizer const& optimizer) -> scalar {
    return step(x, target, loss, optimizer, plain_context{});
  }
};

}  // namespace tessera
