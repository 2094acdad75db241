// SPDX-License-Identifier: MIT
// EXPECT: a layer is given a shape it does not take
// EXPECT: expected<tessera::shape<8, 3, 5>
// EXPECT: got<tessera::shape<6, 3, 5>
// LINES: 12
#include <tessera/compose/objects.hpp>
#include <tessera/layers/batch_norm.hpp>

using namespace tessera;
using model = batch_norm<5, batch_norm_options{.lanes = 4}>;

auto main() -> int {
  static differentiation<model, tensor<float, shape<8, 3, 5>>> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static differentiation<model, tensor<float, shape<6, 3, 5>>> bad;
  (void)bad;
#endif
}
