// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/compose/traced.hpp>
#include <tessera/core/path_name.hpp>

namespace tessera {

/// The same layer under a name of its own, where a composition would call it by its index: the keys
/// of files that others wrote. An empty name adds nothing to a path.
///
/// Shapes  those of the layer
/// Source  reference values: tests/reference/unet.py, by the keys of diffusers
template <fixed_name Name, class Layer> struct named : as_layer<Layer> {
  using unnamed = Layer;
  static constexpr auto own_name = Name;
};

namespace detail {

/// The layer that a name was given to.
template <class Layer> struct without_name {
  using type = Layer;
};
template <class Layer>
  requires requires { typename Layer::unnamed; }
struct without_name<Layer> : without_name<typename Layer::unnamed> {};

}  // namespace detail

}  // namespace tessera
