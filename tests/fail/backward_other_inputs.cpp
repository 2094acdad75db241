// SPDX-License-Identifier: MIT
// EXPECT: the model is given other inputs
// LINES: 9 14
#include <tessera/tessera.hpp>

using namespace tessera;
using model = condition_bias<3, 4>;
using X = tensor<float, shape<2, 5, 4>>;
using C = tensor<float, shape<2, 3>>;

auto main() -> int {
  static differentiation<model, X, given_as<tag::condition, C>> pass;
  static parameters_of<model, owned<float>> p;
  static X x;
  static C c;
  (void)pass.forward(p, x, given(c));
#ifdef TESSERA_MUST_FAIL
  pass.backward(p, x);
#else
  pass.backward(p, x, given(c));
#endif
}
