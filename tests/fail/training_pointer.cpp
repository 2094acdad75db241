// SPDX-License-Identifier: MIT
// EXPECT: training: the input must have the shape that the training was made for
// EXPECT: expected<tessera::shape<16, 4>
// EXPECT: got<float ?\*>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using trained = training<linear<4, 1>, tensor<float, shape<16, 4>>, adam>;

auto main() -> int {
  static trained t;
  static trained::output y;
  static float numbers[64];
  (void)t.step(view<float, shape<16, 4>>{numbers}, y, mse{}, adam{});
#ifdef TESSERA_MUST_FAIL
  float* const pointer = numbers;
  (void)t.step(pointer, y, mse{}, adam{});
#endif
}
