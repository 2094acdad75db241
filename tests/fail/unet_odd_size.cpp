// SPDX-License-Identifier: MIT
// EXPECT: expected<tessera::shape<1, 6, 4, 4>
// EXPECT: got<tessera::shape<1, 5, 4, 4>
// EXPECT: at_position<1,
// LINES: 8
#include <tessera/models/unet.hpp>
#include <tessera/tessera.hpp>

using namespace tessera;
using model = unet<unet_options{
    .in = 1, .out = 1, .channels = {4, 4}, .blocks = 1, .head_width = 4, .groups = 2}>;

using step = given_as<tag::condition, tensor<float, shape<1, 1>>>;

auto main() -> int {
  static inference<model, tensor<float, shape<1, 6, 4, 1>>, step> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static inference<model, tensor<float, shape<1, 5, 4, 1>>, step> bad;
  (void)bad;
#endif
}
