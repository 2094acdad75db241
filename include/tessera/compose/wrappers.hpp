// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/composition.hpp>

/// Compositions of one layer that change how it runs, and nothing about what it computes.
namespace tessera {

/// A part that runs as in evaluation, inside of a training pass too: nothing is dropped, norms use
/// their running statistics and observe nothing. Slopes go through it.
template <class Layer> struct evaluated : wrapper<evaluated<Layer>, Layer> {
  template <class X, class Call, std::size_t I> using call_inside = typename Call::evaluated;
  template <class Storage> struct observed {};
};

/// A part that starts from zero at every call: its state is not carried.
template <class Layer> struct restarted : wrapper<restarted<Layer>, Layer> {
  template <class X, class Call, std::size_t I> using call_inside = typename Call::restarted;
};

}  // namespace tessera
