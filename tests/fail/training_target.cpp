// SPDX-License-Identifier: MIT
// EXPECT: training: the target must have the shape that the loss takes for this output
// EXPECT: mse
// EXPECT: expected<tessera::shape<16, 4>
// EXPECT: got<tessera::shape<16, 1>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using trained = training<linear<8, 4>, tensor<float, shape<16, 8>>, adam>;

auto main() -> int {
  static trained t;
  (void)t.step(trained::input{}, trained::output{}, mse{}, adam{});
#ifdef TESSERA_MUST_FAIL
  (void)t.step(trained::input{}, tensor<float, shape<16, 1>>{}, mse{}, adam{});
#endif
}
