// SPDX-License-Identifier: MIT
// EXPECT: a tensor with bounded extents needs its actual ones: x.sized\(n\)
// LINES: 28
#include <tessera/tessera.hpp>

using namespace tessera;

auto main() -> int {
  static auto const x = tensor<float, shape<at_most(4), 3>>{};
#ifdef TESSERA_MUST_FAIL
  tensor<float, shape<>> const s = sum(transpose(x));
#else
  tensor<float, shape<>> const s = sum(transpose(x.sized(2)));
#endif
  return s() == 0 ? 0 : 1;
}
