// SPDX-License-Identifier: MIT
// EXPECT: expected<tessera::shape<3, 6, 5>
// EXPECT: got<tessera::shape<3, 6, 4>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using X = tensor<float, shape<3, 6, 4>>;

auto main() -> int {
  static inference<self_attention<4>, X> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static inference<self_attention<5>, X> bad;
  (void)bad;
#endif
}
