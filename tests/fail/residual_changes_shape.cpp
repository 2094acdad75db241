// SPDX-License-Identifier: MIT
// EXPECT: expected<tessera::shape<2, 4>
// EXPECT: got<tessera::shape<2, 5>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using X = tensor<float, shape<2, 4>>;

auto main() -> int {
  static inference<residual<linear<4, 4>>, X> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static inference<residual<linear<4, 5>>, X> bad;
  (void)bad;
#endif
}
