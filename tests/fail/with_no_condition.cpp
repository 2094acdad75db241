// SPDX-License-Identifier: MIT
// EXPECT: the call gives no condition
// LINES: 20
#include <tessera/tessera.hpp>

using namespace tessera;
using X = tensor<float, shape<3, 5, 4>>;
using model = with<2, linear<2, 6>, condition_bias<6, 4>>;

auto main() -> int {
  static inference<model, X> run;
  static parameters_of<model, owned<float>> p;
  static X x;
  static tensor<float, shape<3, 2>> c;
  (void)run.resume(p, x, given(c));
#ifdef TESSERA_MUST_FAIL
  (void)run.resume(p, x);
#endif
}
