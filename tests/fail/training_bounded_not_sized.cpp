// SPDX-License-Identifier: MIT
// EXPECT: a tensor with bounded extents needs its actual ones: x.sized\(n\)
// EXPECT: shape<-16, 4>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using trained = training<linear<4, 1>, tensor<float, shape<at_most(16), 4>>, adam>;

auto main() -> int {
  static trained t;
  static trained::input x;
  static trained::output y;
  (void)t.step(x.sized(3), y.sized(3), mse{}, adam{});
#ifdef TESSERA_MUST_FAIL
  (void)t.step(x, y, mse{}, adam{});
#endif
}
