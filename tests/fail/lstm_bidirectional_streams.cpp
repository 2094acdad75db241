// SPDX-License-Identifier: MIT
// EXPECT: a layer of this model has no step
// EXPECT: lstm<4, 8
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using X = tensor<float, shape<2, 4>>;

auto main() -> int {
  static streaming<lstm<4, 8>, X> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static streaming<lstm<4, 8, lstm_options{.bidirectional = true}>, X> bad;
  (void)bad;
#endif
}
