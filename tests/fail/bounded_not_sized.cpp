// SPDX-License-Identifier: MIT
// EXPECT: a tensor with bounded extents needs its actual ones: x.sized\(n\)
// EXPECT: shape<-16, 4>
// LINES: 8
#include <tessera/tensor/tensor.hpp>

using namespace tessera;

auto main() -> int {
  static auto const x = tensor<float, shape<at_most(16), 4>>{};
#ifdef TESSERA_MUST_FAIL
  auto const v = as_const(x);
#else
  auto const v = as_const(x.sized(3));
#endif
  return v.size() == 12 ? 0 : 1;
}
