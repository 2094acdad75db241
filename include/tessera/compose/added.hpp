// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/pair.hpp>
#include <tessera/compose/traced.hpp>

namespace tessera {

/// y = f(x) + g(x): two ways from x to y, as a block and its shortcut.
///
/// Shapes  the outputs of both must be alike
/// State   that of both
/// Cost    a buffer for the output of the second, and in training for its part of dx; the tape
///         keeps an output that a backward pass reads: the sum hides it
/// Errors  outputs that differ: tests/fail/added_shapes_differ.cpp
template <class First, class Second> struct added {
  using f = as_layer<First>;
  using g = as_layer<Second>;
  static constexpr bool stateful = tessera::stateful<f> || tessera::stateful<g>;
  static constexpr bool row_wise = tessera::row_wise<f> && tessera::row_wise<g>;
  static constexpr bool streams = tessera::streams<f> && tessera::streams<g>;
  static constexpr bool keeps_f = reads_output(f::backward_reads);
  static constexpr bool keeps_g = reads_output(g::backward_reads);
  static constexpr auto backward_reads =
      reads_of(reads_input(f::backward_reads) || reads_input(g::backward_reads), false);

  template <class S> using output_shape = tessera::output_shape<f, S>;
  template <class S> [[nodiscard]] static constexpr auto mismatch() {
    using in_f = decltype(mismatch_inside<0, f, S>());
    using in_g = decltype(mismatch_inside<1, g, S>());
    if constexpr (not std::same_as<typename in_f::type, error::none>) {
      return in_f{};
    } else if constexpr (not std::same_as<typename in_g::type, error::none>) {
      return in_g{};
    } else {
      using needed = tessera::output_shape<f, S>;
      using other = tessera::output_shape<g, S>;
      if constexpr (not std::same_as<needed, other>)
        return std::type_identity<error::mismatch<error::at_position<1>, error::in<added>,
                                                  error::expected<needed>, error::got<other>>>{};
      else
        return std::type_identity<error::none>{};
    }
  }
  [[nodiscard]] static constexpr auto output_extents(auto actual) {
    return tessera::output_extents<f>(actual);
  }
  template <class X> static constexpr void for_each_child(auto&& visit) {
    visit.template operator()<0, First, X>();
    visit.template operator()<1, Second, X>();
  }

  // -- memory
  template <class Storage>
  using parameters =
      detail::pair_of_parameters<parameters_of<f, Storage>, parameters_of<g, Storage>>;
  template <class X, mode M> using state_in = detail::pair_of<state_of<f, X, M>, state_of<g, X, M>>;
  template <class X> struct tape {
    [[no_unique_address]] detail::member_if<keeps_f, output_of<f, X>, 0> y_first;
    [[no_unique_address]] detail::member_if<keeps_g, output_of<g, X>, 1> y_second;
    [[no_unique_address]] tape_of<f, X> first;
    [[no_unique_address]] tape_of<g, X> second;
  };
  template <class X, mode M> struct scratch {
    output_of<g, X> y;
    [[no_unique_address]] detail::member_if<M == mode::training, X> dx;
    [[no_unique_address]] scratch_of<f, X, M> first;
    [[no_unique_address]] scratch_of<g, X, M> second;
  };

  // -- calls
  static constexpr void forward(auto const& p, auto x, auto y, auto m) {
    forward_or_step<f>(p.first, x, y, detail::lend_first(m));
    auto const other = m.scratch.y.sized_like(y);
    forward_or_step<g>(p.second, x, other, detail::lend_second(m));
    if constexpr (m.training && keeps_f) assign(m.tape.y_first.sized_like(y), as_const(y));
    if constexpr (m.training && keeps_g) assign(m.tape.y_second.sized_like(y), as_const(other));
    y += other;
  }
  static constexpr void step(auto const& p, auto x, auto y, auto m) { forward(p, x, y, m); }
  static constexpr void backward(auto const& p, auto x, auto, auto dy, auto dx, auto& gradient,
                                 auto m) {
    f::backward(p.first, x, kept<keeps_f>(m.tape.y_first, dy), dy, dx, gradient.first,
                detail::lend_first(m));
    auto const other = dx.has_memory() ? m.scratch.dx.sized_like(x) : dx;
    g::backward(p.second, x, kept<keeps_g>(m.tape.y_second, dy), dy, other, gradient.second,
                detail::lend_second(m));
    if (dx.has_memory()) dx += other;
  }
  static constexpr void initialize(auto& p, auto& generator) {
    initialize_layer<f>(p.first, generator);
    initialize_layer<g>(p.second, generator);
  }

 private:
  template <bool Keeps> [[nodiscard]] static constexpr auto kept(auto& memory, auto like) {
    if constexpr (Keeps)
      return as_const(memory.sized_like(like));
    else
      return const_view_of<kind_of<decltype(like)>>{nullptr, like.actual};
  }
};

}  // namespace tessera
