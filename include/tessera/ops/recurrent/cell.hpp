// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

/// What a recurrent cell is made of. A Cell names
///   gates, sums    how many gates, and an array of recurrent_sum
///   carries        whether the value beside goes from step to step, as the c of an LSTM; if not,
///                  what formulas see of the step before is h, and the value beside is a last sum
///   state<H, C>    {h, c}, or {h}
///   forward(sum, before) -> recurrent_unit
///   backward(gates, beside, before, dh, d) -> recurrent_slope, where dh is all that arrives at h
///                  but `d`, which the step after left as `before`
namespace tessera {

/// A sum that a cell makes before its formulas: the rows of `gate` in weight_ih and weight_hh, with
/// their biases, or those of one of the two.
struct recurrent_sum {
  std::size_t gate;
  bool of_x = true;
  bool of_h = true;
};
/// What a cell computes for one hidden unit, or a vector of them: the gates and the value beside
/// them are what its backward reads.
template <class V, std::size_t Gates> struct recurrent_unit {
  V gates[Gates];
  V beside;
  V h;
};
/// The slopes of the gates' sums, of the value beside where it is a sum too, and what goes to the
/// step before besides the way through weight_hh.
template <class V, std::size_t Gates> struct recurrent_slope {
  V gates[Gates];
  V beside;
  V before;
};

}  // namespace tessera
