// SPDX-License-Identifier: MIT
// EXPECT: training: this layer draws numbers; pass random_context
// EXPECT: at_position<1>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using model = sequential<linear<8, 8>, dropout<0.2>, linear<8, 4>>;
using trained = training<model, tensor<float, shape<16, 8>>, adam>;

auto main() -> int {
  static trained t;
  auto const x = trained::input{};
  auto const y = trained::output{};
  (void)t.step(x, y, mse{}, adam{}, random_context{.seed = 1, .step = 0});
  (void)t.step(x, y, mse{}, adam{}, plain_context{});
#ifdef TESSERA_MUST_FAIL
  (void)t.step(x, y, mse{}, adam{});
#endif
}
