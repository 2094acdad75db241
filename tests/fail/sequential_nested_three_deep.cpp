// SPDX-License-Identifier: MIT
// EXPECT: at_position<1, 0, 1>
// EXPECT: in<tessera::linear<7, 64
// EXPECT: expected<tessera::shape<10, 4, 7>
// EXPECT: got<tessera::shape<10, 4, 8>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using X = tensor<float, shape<10, 4, 5>>;
template <std::size_t N> using inner = sequential<linear<64, 8>, linear<N, 64>>;
template <std::size_t N> using model = sequential<lstm<5, 64>, residual<inner<N>>, linear<64, 1>>;

auto main() -> int {
  static inference<model<8>, X> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static inference<model<7>, X> bad;
  (void)bad;
#endif
}
