// SPDX-License-Identifier: MIT
// EXPECT: (data member named|field designator) 'lr'
// EXPECT: adam
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using trained = training<linear<4, 1>, tensor<float, shape<16, 4>>, adam>;

auto main() -> int {
  static trained t;
  static trained::input x;
  static trained::output y;
  (void)t.step(x, y, mse{}, adam{.rate = 0.1});
#ifdef TESSERA_MUST_FAIL
  (void)t.step(x, y, mse{}, adam{.lr = 0.1});
#endif
}
