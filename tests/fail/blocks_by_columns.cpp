// SPDX-License-Identifier: MIT
// EXPECT: packed: blocks of 32, and bf16 as_stored, lie by rows; `compact` and `mapped` have them
#include <tessera/tessera.hpp>

using namespace tessera;

auto main() -> int {
#ifdef TESSERA_MUST_FAIL
  static parameters_of<linear<64, 2>, packed<float, q4_1>> p;
#else
  static parameters_of<linear<64, 2>, compact<float, q4_1>> p;
#endif
  (void)p;
}
