// SPDX-License-Identifier: MIT
// EXPECT: training: the input must have the scalar type that the training was made for
// EXPECT: expected<tessera::tensor<float,
// EXPECT: got<tessera::tensor<double,
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using trained = training<linear<8, 4>, tensor<float, shape<16, 8>>, adam>;

auto main() -> int {
  static trained t;
  (void)t.step(trained::input{}, trained::output{}, mse{}, adam{});
#ifdef TESSERA_MUST_FAIL
  (void)t.step(tensor<double, shape<16, 8>>{}, trained::output{}, mse{}, adam{});
#endif
}
