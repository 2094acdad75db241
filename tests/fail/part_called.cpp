// SPDX-License-Identifier: MIT
// EXPECT: a part of the model is no layer
// EXPECT: at_position<1>
// EXPECT: in<tessera::activation<tessera::op::relu, true> ?\(\)>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;

auto main() -> int {
  using X = tensor<float, shape<4, 4>>;
  static training<sequential<linear<4, 8>, relu_layer, linear<8, 1>>, X, adam> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static training<sequential<linear<4, 8>, relu_layer(), linear<8, 1>>, X, adam> bad;
  (void)bad;
#endif
}
