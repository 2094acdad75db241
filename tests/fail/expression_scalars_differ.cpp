// SPDX-License-Identifier: MIT
// EXPECT: expression: the operands have different scalar types
// EXPECT: float
// EXPECT: double
// LINES: 12
#include <tessera/tensor/assign.hpp>

using namespace tessera;

auto main() -> int {
  auto const a = tensor<float, shape<3>>{};
#ifdef TESSERA_MUST_FAIL
  auto const b = tensor<double, shape<3>>{};
#else
  auto const b = tensor<float, shape<3>>{};
#endif
  auto const y = a - b;
  (void)y;
}
