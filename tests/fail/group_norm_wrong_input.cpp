// SPDX-License-Identifier: MIT
// EXPECT: expected<tessera::shape<3, 6, 6, 5>
// EXPECT: got<tessera::shape<3, 6, 6, 4>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using X = tensor<float, shape<3, 6, 6, 4>>;

auto main() -> int {
  static inference<group_norm<2, 4>, X> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static inference<group_norm<1, 5>, X> bad;
  (void)bad;
#endif
}
