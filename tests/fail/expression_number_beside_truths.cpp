// SPDX-License-Identifier: MIT
// EXPECT: expression: this number is none of the array's type, and would be changed
// LINES: 18
#include <tessera/tensor/assign.hpp>
#include <tessera/tensor/elementwise.hpp>

using namespace tessera;

auto main() -> int {
  auto const x = tensor<float, shape<3>>{{1, -2, 3}};
#ifdef TESSERA_MUST_FAIL
  auto const y = (x > 0.0F) * 2;
#else
  auto const y = cast<float>(x > 0.0F) * 2;
#endif
  (void)y;
}
