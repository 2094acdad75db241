// SPDX-License-Identifier: MIT
// EXPECT: training: the target must have the scalar type that the loss takes
// EXPECT: expected<tessera::tensor<float,
// EXPECT: got<tessera::tensor<double,
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using trained = training<linear<8, 4>, tensor<float, shape<16, 8>>, adam>;

auto main() -> int {
  static trained t;
  (void)t.step(trained::input{}, trained::output{}, l1{}, adam{});
#ifdef TESSERA_MUST_FAIL
  (void)t.step(trained::input{}, tensor<double, shape<16, 4>>{}, l1{}, adam{});
#endif
}
