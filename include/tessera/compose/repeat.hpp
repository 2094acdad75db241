// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/traced.hpp>

namespace tessera {

/// The same kind of layer N times, each with parameters of its own: one instantiation and a loop.
///
/// Shapes  the layer must keep the shape of x
/// State   that of each layer, an array
/// Cost    compile time of one layer; two buffers of the shape of x, whatever N is
/// Errors  a layer that changes the shape: tests/fail/repeat_changes_shape.cpp
template <class Layer, std::size_t N> struct repeat {
  static_assert(N > 0, "repeat: at least once");
  using inner = as_layer<Layer>;
  static constexpr bool stateful = tessera::stateful<inner>;
  static constexpr bool row_wise = tessera::row_wise<inner>;
  static constexpr bool streams = tessera::streams<inner>;
  static constexpr auto backward_reads = inner::backward_reads;
  static constexpr bool keeps = backward_reads != reads::neither;

  template <class S> [[nodiscard]] static constexpr auto mismatch() {
    using found = decltype(mismatch_inside<0, inner, S>());
    if constexpr (not std::same_as<typename found::type, error::none>)
      return found{};
    else if constexpr (not std::same_as<tessera::output_shape<inner, S>, S>)
      return std::type_identity<
          error::mismatch<error::at_position<>, error::in<repeat>, error::expected<S>,
                          error::got<tessera::output_shape<inner, S>>>>{};
    else
      return std::type_identity<error::none>{};
  }
  template <class X> static constexpr void for_each_child(auto&& f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (f.template operator()<I, Layer, X>(), ...);
    }(std::make_index_sequence<N>{});
  }

  template <class Storage> struct parameters {
    using parts = parameters_of<inner, Storage>;
    parameters_of<inner, Storage> each[N];
    template <class F, class... P> static constexpr void visit(F const& f, P&... p) {
      for (auto i = std::size_t{0}; i < N; ++i) f(name("", i), p.each[i]...);
    }
  };
  template <class State> struct states {
    State each[N];
  };
  template <class X, mode M> using state_in = states<state_of<inner, X, M>>;
  template <class X> struct one_tape {
    [[no_unique_address]] detail::member_if<keeps, X> output;
    [[no_unique_address]] tape_of<inner, X> layer;
  };
  template <class X> struct tape {
    one_tape<X> each[N];
  };
  template <class X, mode M> struct scratch {
    X even;
    X odd;
    [[no_unique_address]] scratch_of<inner, X, M> layer;
  };

  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    auto from = as_const(x);
    for (auto i = std::size_t{0}; i < N; ++i) {
      auto const to = i + 1 == N ? y : between(i, x, m);
      forward_or_step<inner>(p.each[i], from, to, inside(m, i));
      from = as_const(to);
    }
  }
  static constexpr void step(auto const& p, auto x, auto y, auto m) { forward(p, x, y, m); }
  static constexpr void backward(auto const& p, auto x, auto y, auto dy, auto dx, auto& gradient,
                                 auto m) {
    using constant = const_view_of<kind_of<decltype(x)>>;
    auto d_out = as_const(dy);
    for (auto i = N; i-- > 0;) {
      auto in = constant{nullptr, x.actual};
      auto out = constant{nullptr, x.actual};
      if constexpr (keeps) {
        in = i == 0 ? as_const(x) : as_const(m.tape.each[i - 1].output.sized_like(x));
        out = i + 1 == N ? as_const(y) : as_const(m.tape.each[i].output.sized_like(x));
      }
      auto const d_in = i == 0 ? dx : (i % 2 == 0 ? m.scratch.even : m.scratch.odd).sized_like(x);
      inner::backward(p.each[i], in, out, d_out, d_in, gradient.each[i], inside(m, i));
      d_out = as_const(d_in);
    }
  }
  static constexpr void initialize(auto& p, auto& generator) {
    for (auto& one : p.each) initialize_layer<inner>(one, generator);
  }

 private:
  [[nodiscard]] static constexpr auto between(std::size_t i, auto x, auto m) {
    if constexpr (m.training && keeps)
      return m.tape.each[i].output.sized_like(x);
    else
      return (i % 2 == 0 ? m.scratch.even : m.scratch.odd).sized_like(x);
  }
  [[nodiscard]] static constexpr auto inside(auto m, std::size_t i) {
    auto& state = [&]() -> auto& {
      if constexpr (stateful)
        return m.state.each[i];
      else
        return m.state;
    }();
    auto& tape = [&]() -> auto& {
      if constexpr (m.training)
        return m.tape.each[i].layer;
      else
        return m.tape;
    }();
    return lend<m.purpose>(state, tape, m.scratch.layer, m.context.inside(i));
  }
};

}  // namespace tessera
