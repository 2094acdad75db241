// SPDX-License-Identifier: MIT
// EXPECT: kernel: this backend has none for this operation, and names no fallback
// EXPECT: kernel_exists<.*in<.*affine_map_fn>, .*got<.*abacus>
#include <tessera/compose/by_value.hpp>
#include <tessera/layers/linear.hpp>

/// A backend that names a fallback runs what it has no kernel for; one that names none does not.
struct abacus {
#ifndef TESSERA_MUST_FAIL
  using fallback = tessera::reference;
#endif
};

auto main() -> int {
  using X = tessera::tensor<float, tessera::shape<2, 3>, abacus>;
  using model = tessera::linear<3, 2>;
  auto const p = tessera::parameters_of<model, tessera::owned<float, abacus>>{};
  return static_cast<int>(tessera::forward_by_value<model>(p, X{}).values[0]);
}
