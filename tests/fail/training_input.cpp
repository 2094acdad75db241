// SPDX-License-Identifier: MIT
// EXPECT: training: the input must have the shape that the training was made for
// EXPECT: expected<tessera::shape<16, 8>
// EXPECT: got<tessera::shape<8, 8>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using trained = training<linear<8, 4>, tensor<float, shape<16, 8>>, adam>;

auto main() -> int {
  static trained t;
  (void)t.step(trained::input{}, trained::output{}, mse{}, adam{});
#ifdef TESSERA_MUST_FAIL
  (void)t.step(tensor<float, shape<8, 8>>{}, trained::output{}, mse{}, adam{});
#endif
}
