// SPDX-License-Identifier: MIT
// EXPECT: shape<2, 3>
// EXPECT: shape<2, 4>
// LINES: 10
#include <tessera/tessera.hpp>

using namespace tessera;

auto main() -> int {
  static tensor<float, shape<2, 3>> x;
  static tensor<float, shape<2, 4>> y;
  x = x * 2;
#ifdef TESSERA_MUST_FAIL
  y = x * 2;
#endif
}
