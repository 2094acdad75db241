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

/// error::none, or the position of the first layer that reads its parameters late, where the update
/// is fused.
template <class Model, class X, class Call, bool Fused>
[[nodiscard]] constexpr auto late_reader_position() {
  if constexpr (Fused)
    return first_layer_without<reads_first, Model, X, Call>();
  else
    return std::type_identity<error::none>{};
}

}  // namespace detail

/// All that training a model takes: parameters, moments and a differentiation for each chunk of the
/// batch.
///
/// A batch is cut into Chunks parts, whatever the number of threads; a fixed tree adds their
/// gradients, so that the bits do not depend on who computed what.
///
/// Shapes  X is the tensor type of one chunk
/// State   passes[c].state is carried from step to step; `restart` makes it zero
/// Cost    allocates nothing; sizeof is Chunks·memory_of<Model, X, mode::training>.object and
///         parameters and moments; an optimizer that fuses its update needs no gradient
/// Errors  a layer that reads parameters late, where the update is fused:
///         tests/fail/training_fused_group_norm.cpp
template <class Model, class X, class Optimizer, std::size_t Chunks = 1, class... Inputs>
struct training {
  using call_type = call_for<mode::training, Inputs...>;
  using found = model_verdict<Model, X, call_type>;
  static_assert(error::every_layer_accepts_its_input<found>,
                "a layer is given a shape it does not take");
  static constexpr auto fused = fuses_update<Optimizer>;
  static_assert(not fused || Chunks == 1, "training: a fused update is for one chunk");
  using late_reader =
      typename decltype(detail::late_reader_position<Model, X, call_type, fused>())::type;
  static_assert(error::holds<std::same_as<late_reader, error::none>, late_reader>,
                "a fused update: this layer reads parameters after it added to their gradient");
  using pass_type =
      differentiation_into<Model, X, std::conditional_t<fused, no_gradient, void>, Inputs...>;
  using model = typename pass_type::model;
  using input_type = X;
  using output = typename pass_type::output;
  using optimizer_type = Optimizer;
  using scalar = model_scalar<X>;
  using parameters_type = typename pass_type::parameters_type;
  using statistics_type = typename pass_type::statistics_type;
  using moments_type = typename Optimizer::template moments<parameters_type>;
  static constexpr auto chunks = Chunks;

  static constexpr bool has_statistics = not std::is_empty_v<statistics_type>;

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

  /// One step on a batch of one chunk: forward, loss, backward, update. Returns the loss.
  template <contiguous Input, contiguous Target, class Loss>
    requires(Chunks == 1)
  auto step(Input const& x, Target const& target, Loss loss, Optimizer const& optimizer,
            auto context) -> scalar {
    auto const from = as_const(x);
    auto const to = as_const(target);
    if constexpr (fused) {
      auto& pass = passes[0];
      auto const value = forward_and_slope(pass, from, to, loss, loss.terms(to), context);
      auto const dy = view_of<output>{pass.dy.data(), output_extents<model>(from.actual)};
      assign(dy, dy * static_cast<scalar>(-optimizer.rate));
      static_assert(not has_statistics, "a fused update is for models without statistics");
      pass.backward(parameters, from, without_memory<X>(from.actual), parameters, context);
      return value;
    } else {
      auto const value = differentiate(0, from, to, loss, loss.terms(to), context);
      update(optimizer);
      return value;
    }
  }
  template <contiguous Input, contiguous Target, class Loss>
    requires(Chunks == 1)
  auto step(Input const& x, Target const& target, Loss loss, Optimizer const& optimizer) -> scalar {
    return step(x, target, loss, optimizer, plain_context{});
  }

 private:
  void backward(pass_type& pass, const_view_of<X> x, auto const& context) {
    if constexpr (has_statistics)
      pass.backward(parameters, statistics, x, context);
    else
      pass.backward(parameters, x, context);
  }
  /// The loss, and its slope in pass.dy.
  auto forward_and_slope(pass_type& pass, const_view_of<X> x, auto target, auto loss,
                         std::size_t terms, auto context) -> scalar {
    auto const y = [&] {
      if constexpr (has_statistics)
        return pass.forward(parameters, statistics, x, context);
      else
        return pass.forward(parameters, x, context);
    }();
    auto const dy = view_of<output>{pass.dy.data(), y.actual};
    return loss.value_and_slope(y, target, dy, scalar{1} / static_cast<scalar>(terms));
  }
};

}  // namespace tessera
