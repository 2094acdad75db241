// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary.hpp>
#include <tessera/ops/affine_map.hpp>

/// One step of a long short-term memory cell, forward and backward.
///
/// The formulas stand here once, for numbers and vectors; kernels differ in how they reach them.
namespace tessera {

namespace detail {

/// The four gates of one hidden unit, or of a vector of them.
template <class V> struct lstm_gates {
  V input;
  V forget;
  V candidate;
  V output;
};
template <class V> struct lstm_unit {
  lstm_gates<V> gates;
  V c;
  V h;
};

/// c = f·c + i·g;  h = o·tanh(c)
template <class V>
[[nodiscard]] TESSERA_INLINE constexpr auto lstm_unit_forward(lstm_gates<V> const& before,
                                                              V c_before) -> lstm_unit<V> {
  using namespace lane;
  auto const i = sigmoid(before.input);
  auto const f = sigmoid(before.forget);
  auto const g = tanh(before.candidate);
  auto const o = sigmoid(before.output);
  auto const c = fma(f, c_before, i * g);
  return {{i, f, g, o}, c, o * tanh(c)};
}

template <class V> struct lstm_unit_slope {
  lstm_gates<V> dgates;
  V dc;
};

/// From dh, all that arrives at h, and dc, what arrives at c from the step after.
template <class V>
[[nodiscard]] TESSERA_INLINE constexpr auto lstm_unit_backward(lstm_gates<V> const& gates, V c,
                                                               V c_before, V dh, V dc)
    -> lstm_unit_slope<V> {
  using namespace lane;
  auto const one = V(1);
  auto const tanh_c = tanh(c);
  auto const [i, f, g, o] = gates;
  auto const d = fma(dh * o, one - tanh_c * tanh_c, dc);
  return {{d * g * (i * (one - i)), d * c_before * (f * (one - f)), d * i * (one - g * g),
           dh * tanh_c * (o * (one - o))},
          d * f};
}

/// kernel<lstm_step_fn, Backend> has packed<T, Rows, In, Hidden, Recurrent>, what it makes of the
/// weights once for many steps, or nothing; prepare(p, packed); and
/// run(p, x, h, c_before, gates, c, y, packed).
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

/// kernel<lstm_step_backward_fn, Backend>::run(gates, c, c_before, dy, dh, dc)
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

#include <tessera/ops/reference/lstm_cell.hpp>  // IWYU pragma: keep
