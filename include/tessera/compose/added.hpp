// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/composition.hpp>

namespace tessera {

/// y = f(x) + g(x): two ways from x to y, as a block and its shortcut.
///
/// Shapes  the outputs of both must be alike
/// State   that of both
/// Cost    a buffer for the output of the second, and in training for its part of dx where it can
///         only write one; an output is kept that a backward pass reads: the sum hides it
/// Errors  outputs that differ: tests/fail/added_shapes_differ.cpp
template <class First, class Second>
struct added : composition<added<First, Second>, First, Second> {
  using f = as_layer<First>;
  using g = as_layer<Second>;
  static constexpr bool keeps_f = reads_output(about_of<f>.backward_reads);
  static constexpr bool keeps_g = reads_output(about_of<g>.backward_reads);
  template <class S> using output_shape = tessera::output_shape<f, S>;
  [[nodiscard]] static constexpr auto output_extents(auto actual) {
    return tessera::output_extents<f>(actual);
  }
  template <class X, class Call> [[nodiscard]] static constexpr auto rule() {
    using S = shape_of<X>;
    return same_shape<added, tessera::output_shape<f, S>, tessera::output_shape<g, S>, 1>();
  }
  template <class X, class Call>
  using values =
      type_list<buffer_between<output_of<added, X>, 1, 1, keeps_g>,
                buffer_between<either<keeps_f && Call::training, output_of<added, X>, nothing>, 0,
                               0, keeps_f>>;
  template <class X, class Call>
  using slopes_between = type_list<buffer_between<either<about_of<g>.adds_dx, nothing, X>, 1, 1>>;

  static constexpr void run(auto inside, auto x, auto y) {
    inside.template forward<0>(x, y);
    if constexpr (keeps_f && decltype(inside)::Call::training)
      assign(inside.template value<1>(y.actual), as_const(y));
    require(tessera::output_extents<f>(x.actual) == tessera::output_extents<g>(x.actual),
            "added: the outputs of both layers have the same extents");
    auto const other = inside.template value<0>(y.actual);
    inside.template forward<1>(x, other);
    y += other;
  }
  static constexpr void run_back(auto inside, auto x, auto y, auto dy, auto dx) {
    inside.template backward<0>(x, hidden_value<keeps_f, 1>(inside, y), dy, dx);
    inside.template backward_adding<1, 0>(x, hidden_value<keeps_g, 0>(inside, y), dy, dx);
  }
};

}  // namespace tessera
