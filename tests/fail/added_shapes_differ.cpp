// SPDX-License-Identifier: MIT
// EXPECT: expected<tessera::shape<3, 8>
// EXPECT: got<tessera::shape<3, 7>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using X = tensor<float, shape<3, 4>>;

auto main() -> int {
  static inference<added<linear<4, 8>, linear<4, 8>>, X> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static inference<added<linear<4, 8>, linear<4, 7>>, X> bad;
  (void)bad;
#endif
}
