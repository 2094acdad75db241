// SPDX-License-Identifier: MIT
// EXPECT: a layer is given a shape it does not take
// EXPECT: expected<tessera::shape<2, 3, 3, 5>
// EXPECT: got<tessera::shape<2, 2, 3, 5>
// LINES: 12
#include <tessera/compose/objects.hpp>
#include <tessera/layers/avg_pool2d.hpp>

using namespace tessera;

auto main() -> int {
  static inference<avg_pool2d<3>, tensor<float, shape<2, 3, 3, 5>>> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static inference<avg_pool2d<3>, tensor<float, shape<2, 2, 3, 5>>> bad;
  (void)bad;
#endif
}
