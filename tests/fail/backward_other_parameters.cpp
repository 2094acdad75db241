// SPDX-License-Identifier: MIT
// EXPECT: the parameters are those of another model
// LINES: 9 14
#include <tessera/tessera.hpp>

using namespace tessera;
using model = linear<6, 8>;
using X = tensor<float, shape<2, 6>>;

auto main() -> int {
  static differentiation<model, X> pass;
  static parameters_of<model, owned<float>> p;
  static parameters_of<linear<8, 6>, owned<float>> other;
  static X x;
  (void)pass.forward(p, x);
#ifdef TESSERA_MUST_FAIL
  pass.backward(other, x);
#else
  pass.backward(p, x);
#endif
  (void)other;
}
