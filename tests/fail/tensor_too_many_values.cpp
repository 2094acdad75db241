// SPDX-License-Identifier: MIT
// EXPECT: tensor: more values than elements
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;

auto main() -> int {
  (void)tensor<float, shape<2, 2>>{{1, 2, 3, 4}};
#ifdef TESSERA_MUST_FAIL
  (void)tensor<float, shape<2, 2>>{{1, 2, 3, 4, 5}};
#endif
}
