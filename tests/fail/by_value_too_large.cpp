// SPDX-License-Identifier: MIT
// EXPECT: forward by value is for small models
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
auto main() -> int {
  static parameters_of<sequential<linear<8, 8>>, owned<float>> const p{};
  (void)forward_by_value<sequential<linear<8, 8>>>(p, tensor<float, shape<1, 8>>{});
#ifdef TESSERA_MUST_FAIL
  static tensor<float, shape<100000, 8>> const x{};
  (void)forward_by_value<sequential<linear<8, 8>>>(p, x);
#endif
}
