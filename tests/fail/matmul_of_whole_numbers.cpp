// SPDX-License-Identifier: MIT
// EXPECT: matmul: operands of float or double; cast<float>\(x\) converts
// LINES: 8
#include <tessera/ops/matmul.hpp>

using namespace tessera;

auto main() -> int {
#ifdef TESSERA_MUST_FAIL
  auto const a = tensor<std::int32_t, shape<2, 4>>{};
#else
  auto const a = tensor<float, shape<2, 4>>{};
#endif
  auto const y = matmul(a, transpose(a));
  (void)y;
}
