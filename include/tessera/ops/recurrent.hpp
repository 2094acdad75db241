// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/recurrent.hpp>

#if TESSERA_SIMD
#include <tessera/ops/simd/recurrent_relaxed.hpp>
#endif

namespace tessera {

namespace detail {

template <class Kernel, class State, class T, std::size_t In, std::size_t Hidden,
          std::size_t Recurrent>
struct recurrent_state {
  using type = State;
};
template <class Kernel, class State, class T, std::size_t In, std::size_t Hidden,
          std::size_t Recurrent>
  requires requires { typename Kernel::template state<T, State, In, Hidden, Recurrent>; }
struct recurrent_state<Kernel, State, T, In, Hidden, Recurrent> {
  using type = typename Kernel::template state<T, State, In, Hidden, Recurrent>;
};

template <class Cell> struct recurrent_step_fn {
  template <class X, std::size_t Hidden, std::size_t Recurrent>
  using packed = typename kernel_for<recurrent_step_fn, backend_of<X>>::template packed<
      scalar_of<X>, shape_of<X>::capacity / last_of<shape_of<X>>, last_of<shape_of<X>>, Hidden,
      Recurrent>;

  /// What a stream carries: the state of the cell, or what a backend's steps make of it.
  template <class X, class State, std::size_t Hidden, std::size_t Recurrent>
  using carried =
      typename recurrent_state<kernel_for<recurrent_step_fn, backend_of<X>>, State, scalar_of<X>,
                               last_of<shape_of<X>>, Hidden, Recurrent>::type;

  template <class Backend> static constexpr void prepare(auto const& p, auto& memory) {
    kernel_for<recurrent_step_fn, Backend>::prepare(p, memory);
  }
  constexpr void operator()(auto const& p, auto x, auto h, auto before, auto gates, auto beside,
                            auto y, auto& memory) const {
    kernel_for<recurrent_step_fn, backend_of<decltype(x)>>::run(p, x, h, before, gates, beside, y,
                                                                memory);
  }
  /// A step of which nothing is kept, and h becomes y; `before` may be h.
  constexpr void advance(auto const& p, auto x, auto h, auto before, auto beside, auto y,
                         auto& state) const
    requires requires {
      kernel_for<recurrent_step_fn, backend_of<decltype(x)>>::advance(p, x, h, before, beside, y,
                                                                      state);
    }
  {
    kernel_for<recurrent_step_fn, backend_of<decltype(x)>>::advance(p, x, h, before, beside, y,
                                                                    state);
  }
};

template <class Cell> struct recurrent_step_backward_fn {
  constexpr void operator()(auto gates, auto beside, auto before, auto dy, auto dh, auto d) const {
    kernel_for<recurrent_step_backward_fn, backend_of<decltype(gates)>>::run(gates, beside, before,
                                                                             dy, dh, d);
  }
};

template <class Cell> struct recurrent_sequence_fn {
  template <class X, std::size_t Hidden>
  static constexpr bool fits =
      kernel_for<recurrent_sequence_fn, backend_of<X>>::template fits<scalar_of<X>,
                                                                      last_of<shape_of<X>>, Hidden>;

  void forward(auto const& p, auto x, auto h, auto carried, auto gates, auto beside, auto y,
               bool reversed) const {
    kernel_for<recurrent_sequence_fn, backend_of<decltype(x)>>::forward(p, x, h, carried, gates,
                                                                        beside, y, reversed);
  }
  void backward(auto const& weight_hh, auto gates, auto beside, auto start, auto before, auto dy,
                bool reversed) const {
    kernel_for<recurrent_sequence_fn, backend_of<decltype(dy)>>::backward(
        weight_hh, gates, beside, start, before, dy, reversed);
  }
};

}  // namespace detail

/// One step of a cell: its sums of W_ih·x + b_ih and W_hh·h + b_hh, then its formulas.
///
/// Shapes    x (..., In), h (..., Recurrent); before, beside and y (..., Hidden); gates (...,
///           Cell::gates·Hidden). Gates take what the backward pass reads, or have no memory, like
///           `beside` where the cell does not carry it; that of one that does may be `before`.
/// Cost      rows·Hidden·Cell::gates·(In + Recurrent) multiply-adds, and the activations
/// Accuracy  from the sum of the biases, over In and then over Recurrent ascending, one fma each
template <class Cell> inline constexpr auto recurrent_step = detail::recurrent_step_fn<Cell>{};

/// From the gates to the slopes of their sums, in place; d goes to the step before. dh, from the
/// step after, is added to dy; either may have no memory.
template <class Cell>
inline constexpr auto recurrent_step_backward = detail::recurrent_step_backward_fn<Cell>{};

/// All steps of a sequence, on a device, where its kernel `fits` them.
///
/// Shapes  x (time, ..., In), y and dy (time, ..., Hidden), and so gates and beside, as for a step;
///         h and carried (..., Hidden) are those of the start, and after it of the end. Backward:
///         before (time, ..., Hidden) has at each step what the formulas of the next one see, and
///         start (..., Hidden) what those of the first do. `reversed`: the last sample comes first
/// Cost    of recurrent_step and recurrent_step_backward for each step, and its dh
template <class Cell>
inline constexpr auto recurrent_sequence = detail::recurrent_sequence_fn<Cell>{};

}  // namespace tessera
