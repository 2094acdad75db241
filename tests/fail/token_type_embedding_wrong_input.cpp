// SPDX-License-Identifier: MIT
// EXPECT: expected<tessera::shape<3, 2, 5>
// EXPECT: got<tessera::shape<3, 2, 4>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using X = tensor<float, shape<3, 2, 4>>;

auto main() -> int {
  static inference<token_type_embedding<9, 4>, X> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static inference<token_type_embedding<9, 5>, X> bad;
  (void)bad;
#endif
}
