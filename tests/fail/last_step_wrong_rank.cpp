// SPDX-License-Identifier: MIT
// EXPECT: a layer is given a shape it does not take
// EXPECT: got<tessera::shape<4>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;

auto main() -> int {
  static inference<last_step, tensor<float, shape<4, 2>>> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static inference<last_step, tensor<float, shape<4>>> bad;
  (void)bad;
#endif
}
