// SPDX-License-Identifier: MIT
// EXPECT: wrong number of template arguments|too few template arguments
// EXPECT: linear
// LINES: 8 9
#include <tessera/tessera.hpp>

using namespace tessera;

auto main() -> int {
  using good = linear<8, 1>;
  static_assert(parameter_count<good> == 9);
#ifdef TESSERA_MUST_FAIL
  using bad = linear<8>;
#endif
}
