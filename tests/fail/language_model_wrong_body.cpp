// SPDX-License-Identifier: MIT
// EXPECT: a layer is given a shape it does not take
// EXPECT: in<tessera::language_model<11, 6
// EXPECT: expected<tessera::shape<4, 6>
// EXPECT: got<tessera::shape<4, 5>
// LINES: 12
#include <tessera/compose/objects.hpp>
#include <tessera/layers/linear.hpp>
#include <tessera/models/language_model.hpp>

using namespace tessera;
using X = tensor<std::int32_t, shape<4>>;

auto main() -> int {
  static inference<language_model<11, 6, linear<6, 6>>, X> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static inference<language_model<11, 6, linear<6, 5>>, X> bad;
  (void)bad;
#endif
}
