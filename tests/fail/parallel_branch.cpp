// SPDX-License-Identifier: MIT
// EXPECT: at_position<1>
// EXPECT: in<tessera::linear<5, 3
// EXPECT: expected<tessera::shape<2, 5>
// EXPECT: got<tessera::shape<2, 4>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using X = tensor<float, shape<2, 4>>;

auto main() -> int {
  static inference<parallel<linear<4, 2>, linear<4, 3>>, X> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static inference<parallel<linear<4, 2>, linear<5, 3>>, X> bad;
  (void)bad;
#endif
}
