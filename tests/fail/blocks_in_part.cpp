// SPDX-License-Identifier: MIT
// EXPECT: weights in blocks of 32: the inputs of an output, In, are a multiple of 32
// EXPECT: holds<.*got<.*shape<2, 48
#include <tessera/tessera.hpp>

using namespace tessera;

auto main() -> int {
#ifdef TESSERA_MUST_FAIL
  static parameters_of<linear<48, 2>, compact<float, q4_1>> p;
#else
  static parameters_of<linear<64, 2>, compact<float, q4_1>> p;
#endif
  (void)p;
}
