// SPDX-License-Identifier: MIT
// EXPECT: mean: whole numbers have none of their type
// LINES: 18
#include <tessera/tensor/elementwise.hpp>
#include <tessera/tensor/reduction.hpp>

using namespace tessera;

auto main() -> int {
  auto const n = tensor<std::int32_t, shape<3>>{{1, 2, 3}};
#ifdef TESSERA_MUST_FAIL
  auto const y = mean(n);
#else
  auto const y = mean(cast<float>(n));
#endif
  (void)y;
}
