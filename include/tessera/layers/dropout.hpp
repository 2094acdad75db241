// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/layer.hpp>
#include <tessera/core/probability.hpp>
#include <tessera/ops/dropout.hpp>
#include <tessera/tensor/assign.hpp>

namespace tessera {

/// Sets elements to zero with probability P and scales the others by 1 / (1 - P), wherever a call
/// carries a random_context: in training, and in inference for those who want its uncertainty.
///
/// Shapes  any, unchanged
/// State   none: what is dropped follows from seed, step, chunk, the layer's place and the element,
///         whatever ran before, and the backward pass finds it again without a tape
/// Cost    a Philox block for four elements; nothing in other calls but a copy, if x is not y
template <probability P = 0.5> struct dropout : without_parameters, any_shape {
  static constexpr auto about =
      facts{.row_wise = true, .in_place = true, .random = (P.millionths > 0)};

  static constexpr void forward(auto const&, auto x, auto y, auto m) { apply(x, y, m); }
  static constexpr void backward(auto const&, auto, auto, auto dy, auto dx, auto&, auto m) {
    if (dx.has_memory()) apply(dy, dx.view, m);
  }

 private:
  static constexpr void apply(auto from, auto to, auto m) {
    using call_type = typename decltype(m)::call_type;
    if constexpr (requires { m.context.seed; } && call_type::draws) {
      auto const p = P.is_run_time() ? static_cast<double>(m.context.dropout) : P.value();
      require(p >= 0 && p < 1, "dropout: a probability from 0, and below 1");
      if (p > 0) {
        auto const& c = m.context;
        return apply_dropout({{c.seed, std::uint64_t{c.chunk} << 32 | c.path},
                              c.step << 32,
                              static_cast<std::uint32_t>(p * 4294967296.0),
                              1.0 / (1.0 - p)},
                             from, to);
      }
    }
    if (from.data() != to.data()) assign(to, from);
  }
};

}  // namespace tessera
