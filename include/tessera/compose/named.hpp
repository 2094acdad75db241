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

}  // namespace tessera
