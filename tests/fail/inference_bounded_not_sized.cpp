// SPDX-License-Identifier: MIT
// EXPECT: a tensor with bounded extents needs its actual ones: x.sized\(n\)
// EXPECT: shape<-16, 4>
// LINES: 8 10
#include <tessera/tessera.hpp>

using namespace tessera;
using X = tensor<float, shape<at_most(16), 4>>;

auto main() -> int {
  static inference<linear<4, 1>, X> run;
  static parameters_of<linear<4, 1>, owned<float>> p;
  static X x;
  (void)run(p, x.sized(3));
#ifdef TESSERA_MUST_FAIL
  (void)run(p, x);
#endif
}
