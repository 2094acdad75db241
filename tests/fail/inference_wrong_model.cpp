// SPDX-License-Identifier: MIT
// EXPECT: at_position<0>
// EXPECT: in<tessera::linear<3, 8
// EXPECT: expected<tessera::shape<2, 3>
// EXPECT: got<tessera::shape<2, 4>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
template <std::size_t N> using model = sequential<linear<N, 8>, linear<8, 1>>;
using X = tensor<float, shape<2, 4>>;

auto main() -> int {
  static inference<model<4>, X> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static inference<model<3>, X> bad;
  (void)bad;
#endif
}
