// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/memory.hpp>

namespace tessera {

/// y = model(p, x) by value, in constant expressions too: nothing is overlaid, all is on the stack.
///
/// Errors  a model that needs more than stack_limit bytes: tests/fail/by_value_too_large.cpp
template <class Model, class X>
[[nodiscard]] constexpr auto forward_by_value(auto const& p, X const& x) {
  using Call = call_for<call_mode::by_value>;
  using in = kind_of<X>;
  static_assert(complaint::every_layer_accepts_its_input<model_verdict<Model, in, Call>>,
                "a layer is given a shape it does not take");
  using L = checked_layer<Model, in, Call>;
  using output = output_of<L, in>;
  using state_type = state_of<L, in, Call>;
  using kept_type = kept_of<L, in, Call>;
  using scratch_type = scratch_of<L, in, Call>;
  using statistics_type = statistics_of<L, storage_of<in>>;
  constexpr auto bytes =
      sizeof(output) + bytes_of<state_type> + bytes_of<kept_type> + bytes_of<scratch_type>;
  static_assert(complaint::holds<bytes <= stack_limit, std::integral_constant<std::size_t, bytes>>,
                "forward by value is for small models: use inference<Model, X>");
  static_assert(is_empty<statistics_type>,
                "forward by value is for models without statistics: use inference<Model, X>");
  auto y = output{};
  auto state = state_type{};
  auto kept = kept_type{};
  auto scratch = scratch_type{};
  auto const statistics = statistics_type{};
  auto observed = nothing{};
  L::forward(p, as_const(x), view_of<output>(y),
             loan<L, in, Call, scratch_type, call_context<plain_context>>{
                 state, kept, scratch, statistics, observed, {}});
  return y;
}

}  // namespace tessera
