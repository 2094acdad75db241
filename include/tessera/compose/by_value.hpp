// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/memory.hpp>

namespace tessera {

/// y = model(p, x) by value, in constant expressions too: nothing is overlaid, all is on the stack.
///
/// Errors  a model that needs more than stack_limit bytes: tests/fail/by_value_too_large.cpp
template <class Model, class X>
[[nodiscard]] constexpr auto forward_by_value(auto const& p, X const& x) {
  static_assert(error::every_layer_accepts_its_input<verdict<Model, X>>,
                "a layer is given a shape it does not take");
  using L = checked<Model, X>;
  using output = output_of<L, kind_of<X>>;
  using state_type = state_of<L, kind_of<X>, mode::by_value>;
  using scratch_type = scratch_of<L, kind_of<X>, mode::by_value>;
  constexpr auto bytes = sizeof(output) + bytes_of<state_type> + bytes_of<scratch_type>;
  static_assert(error::holds<bytes <= stack_limit, std::integral_constant<std::size_t, bytes>>,
                "forward by value is for small models: use inference<Model, X>");
  auto y = output{};
  auto state = state_type{};
  auto tape = nothing{};
  auto scratch = scratch_type{};
  L::forward(p, as_const(x), view_of<output>(y),
             lend<mode::by_value>(state, tape, scratch, plain_context{}));
  return y;
}

}  // namespace tessera
