// SPDX-License-Identifier: MIT
// EXPECT: at_position<2>
// EXPECT: in<tessera::linear<32, 1
// EXPECT: expected<tessera::shape<10, 4, 32>
// EXPECT: got<tessera::shape<10, 4, 64>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using X = tensor<float, shape<10, 4, 5>>;

auto main() -> int {
  static inference<sequential<lstm<5, 64>, layer_norm<64>, linear<64, 1>>, X> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static inference<sequential<lstm<5, 64>, layer_norm<64>, linear<32, 1>>, X> bad;
  (void)bad;
#endif
}
