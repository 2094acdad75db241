// SPDX-License-Identifier: MIT
// EXPECT: tensor: its backend is only declared here; cuda needs tessera/cuda.hpp
// LINES: 8
#include <tessera/tessera.hpp>
#ifndef TESSERA_MUST_FAIL
#include <tessera/cuda.hpp>
#endif

auto main() -> int {
  using X = tessera::tensor<float, tessera::shape<2, 3>, tessera::cuda>;
  return static_cast<int>(sizeof(X) % 64);
}
