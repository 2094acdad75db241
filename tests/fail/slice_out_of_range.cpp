// SPDX-License-Identifier: MIT
// EXPECT: range
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;

auto main() -> int {
  static tensor<float, shape<4, 4>> x;
  (void)slice(x, range<1, 4>);
#ifdef TESSERA_MUST_FAIL
  (void)slice(x, range<1, 5>);
#endif
}
