// SPDX-License-Identifier: MIT
// EXPECT: matmul: these shapes do not multiply
// EXPECT: shape<3, 4>
// LINES: 8
#include <tessera/ops/matmul.hpp>

using namespace tessera;

auto main() -> int {
#ifdef TESSERA_MUST_FAIL
  auto const b = tensor<float, shape<3, 4>>{};
#else
  auto const b = tensor<float, shape<4, 3>>{};
#endif
  auto const y = matmul(tensor<float, shape<2, 4>>{}, b);
  (void)y;
}
