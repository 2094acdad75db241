// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/traced.hpp>
#include <tessera/core/name.hpp>

namespace tessera {

/// y = x + f(x).
///
/// Shapes  f must keep the shape of x
/// Cost    the tape keeps f(x) where f's backward pass reads it: the sum hides it
/// Errors  an f that changes the shape: tests/fail/residual_changes_shape.cpp
template <class Layer> struct residual {
  using inner = as_layer<Layer>;
  static constexpr bool stateful = tessera::stateful<inner>;
  static constexpr bool row_wise = tessera::row_wise<inner>;
  static constexpr bool streams = tessera::streams<inner>;
  static constexpr bool keeps = reads_output(inner::backward_reads);
  static constexpr auto backward_reads = reads_of(reads_input(inner::backward_reads), false);

  template <class S> [[nodiscard]] static constexpr auto mismatch() {
    using found = decltype(mismatch_inside<0, inner, S>());
    if constexpr (not std::same_as<typename found::type, error::none>)
      return found{};
    else if constexpr (not std::same_as<tessera::output_shape<inner, S>, S>)
      return std::type_identity<
          error::mismatch<error::at_position<>, error::in<residual>, error::expected<S>,
                          error::got<tessera::output_shape<inner, S>>>>{};
    else
      return std::type_identity<error::none>{};
  }
  template <class X> static constexpr void for_each_child(auto&& f) {
    f.template operator()<0, Layer, X>();
  }

  template <class Storage> struct parameters {
    using parts = parameters_of<inner, Storage>;
    parameters_of<inner, Storage> layer;
    template <class F, class... P> static constexpr void visit(F const& f, P&... p) {
      f(name_inside<decltype(layer)>(0), p.layer...);
    }
  };
  template <class X, mode M> using state_in = state_of<inner, X, M>;
  template <class X> struct tape {
    [[no_unique_address]] detail::member_if<keeps, X> output;
    [[no_unique_address]] tape_of<inner, X> layer;
  };
  template <class X, mode M> using scratch = scratch_of<inner, X, M>;

  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    forward_or_step<inner>(p.layer, x, y, inside(m));
    if constexpr (m.training && keeps) assign(m.tape.output.sized_like(x), as_const(y));
    y += x;
  }
  static constexpr void step(auto const& p, auto x, auto y, auto m) { forward(p, x, y, m); }
  static constexpr void backward(auto const& p, auto x, auto, auto dy, auto dx, auto& gradient,
                                 auto m) {
    auto const f = [&] {
      if constexpr (keeps)
        return as_const(m.tape.output.sized_like(x));
      else
        return const_view_of<kind_of<decltype(x)>>{nullptr, x.actual};
    }();
    inner::backward(p.layer, x, f, dy, dx, gradient.layer, inside(m));
    if (dx.has_memory()) dx += dy;
  }
  static constexpr void initialize(auto& p, auto& generator) {
    initialize_layer<inner>(p.layer, generator);
  }

 private:
  [[nodiscard]] static constexpr auto inside(auto m) {
    if constexpr (m.training)
      return lend<m.purpose>(m.state, m.tape.layer, m.scratch, m.context.inside(0));
    else
      return lend<m.purpose>(m.state, m.tape, m.scratch, m.context.inside(0));
  }
};

}  // namespace tessera
