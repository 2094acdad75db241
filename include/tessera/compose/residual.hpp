// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/composition.hpp>

namespace tessera {

/// y = x + f(x).
///
/// Shapes  f must keep the shape of x
/// Cost    f(x) is kept where f's backward pass reads it: the sum hides it
/// Errors  an f that changes the shape: tests/fail/residual_changes_shape.cpp
template <class F> struct residual : composition<residual<F>, F> {
  using inner = as_layer<F>;
  static constexpr bool keeps = reads_output(about_of<inner>.backward_reads);
  template <class S> using output_shape = S;
  template <class X, class Call> [[nodiscard]] static constexpr auto rule() {
    return same_shape<residual, shape_of<X>, tessera::output_shape<inner, shape_of<X>>>();
  }
  template <class X, class Call>
  using values =
      either<keeps && Call::training, type_list<buffer_between<X, 0, 0, true>>, type_list<>>;

  static constexpr void run(auto inside, auto x, auto y) {
    inside.template forward<0>(x, y);
    if constexpr (keeps && decltype(inside)::Call::training)
      assign(inside.template value<0>(y.actual), as_const(y));
    y += x;
  }
  static constexpr void run_back(auto inside, auto x, auto y, auto dy, auto dx) {
    inside.template backward<0>(x, hidden_value<keeps, 0>(inside, y), dy, dx);
    if (dx.has_memory()) assign(dx.view, dx.view + dy);
  }
};

}  // namespace tessera
