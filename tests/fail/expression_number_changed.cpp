// SPDX-License-Identifier: MIT
// EXPECT: expression: this number is none of the array's type, and would be changed
// LINES: 18
#include <tessera/tensor/assign.hpp>
#include <tessera/tensor/elementwise.hpp>

using namespace tessera;

auto main() -> int {
  auto const n = tensor<std::int32_t, shape<3>>{{1, 2, 3}};
#ifdef TESSERA_MUST_FAIL
  auto const y = n * 0.5F;
#else
  auto const y = cast<float>(n) * 0.5F;
#endif
  (void)y;
}
