// SPDX-License-Identifier: MIT
// EXPECT: a part of the model is no layer
// EXPECT: at_position<1>
// EXPECT: in<tessera::op::relu>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;

auto main() -> int {
  using X = tensor<float, shape<4, 4>>;
  static inference<sequential<linear<4, 8>, relu_layer, linear<8, 1>>, X> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static inference<sequential<linear<4, 8>, op::relu, linear<8, 1>>, X> bad;
  (void)bad;
#endif
}
