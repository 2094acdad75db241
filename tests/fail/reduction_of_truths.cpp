// SPDX-License-Identifier: MIT
// EXPECT: reduction: these numbers are too small for what they give
// LINES: 18
#include <tessera/tensor/elementwise.hpp>
#include <tessera/tensor/reduction.hpp>

using namespace tessera;

auto main() -> int {
  auto const n = tensor<std::int32_t, shape<3>>{{1, 2, 3}};
#ifdef TESSERA_MUST_FAIL
  auto const y = sum(n == 1);
#else
  auto const y = sum(cast<float>(n == 1));
#endif
  (void)y;
}
