// SPDX-License-Identifier: MIT
// EXPECT: a layer of this model has no step
// EXPECT: attention_layer<8
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using X = tensor<float, shape<2, 8>>;

auto main() -> int {
  static streaming<lstm<8, 8>, X> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static streaming<sequential<lstm<8, 8>, attention_layer<8>>, X> bad;
  (void)bad;
#endif
}
