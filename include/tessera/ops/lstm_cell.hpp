// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/lstm_cell.hpp>

#if TESSERA_SIMD
#include <tessera/ops/simd/lstm_cell.hpp>
#endif

namespace tessera {

namespace detail {

struct lstm_step_fn {
  template <class X, std::size_t Hidden, std::size_t Recurrent>
  using packed = typename kernel<lstm_step_fn, backend_of<X>>::template packed<
      scalar_of<X>, shape_of<X>::capacity / last_of<shape_of<X>>, last_of<shape_of<X>>, Hidden,
      Recurrent>;

  template <class Backend> static constexpr void prepare(auto const& p, auto& memory) {
    kernel<lstm_step_fn, Backend>::prepare(p, memory);
  }
  constexpr void operator()(auto const& p, auto x, auto h, auto c_before, auto gates, auto c,
                            auto y, auto& memory) const {
    kernel<lstm_step_fn, backend_of<decltype(x)>>::run(p, x, h, c_before, gates, c, y, memory);
  }
};

struct lstm_step_backward_fn {
  constexpr void operator()(auto gates, auto c, auto c_before, auto dy, auto dh, auto dc) const {
    kernel<lstm_step_backward_fn, backend_of<decltype(gates)>>::run(gates, c, c_before, dy, dh, dc);
  }
};

}  // namespace detail

/// gates = W_ih·x + W_hh·h + b_ih + b_hh, in the order input, forget, candidate, output; then c and
/// y = h of the next step.
///
/// Shapes    x (..., In), h (..., Recurrent), c_before, c and y (..., Hidden); gates (...,
/// 4·Hidden)
///           take what the backward pass reads, or have no memory. c may be c_before.
/// Cost      rows·4·Hidden·(In + Recurrent) multiply-adds, 5 activations a unit
/// Accuracy  from the sum of the biases, over In and then over Recurrent ascending, one fma each
inline constexpr auto lstm_step = detail::lstm_step_fn{};

/// From the gates to their derivatives before the activation, in place; dc goes to the step before.
/// dh, from the step after, is added to dy; either may have no memory.
inline constexpr auto lstm_step_backward = detail::lstm_step_backward_fn{};

}  // namespace tessera
