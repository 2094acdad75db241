// SPDX-License-Identifier: MIT
// EXPECT: the call gives other inputs than the object was made for
#include <tessera/tessera.hpp>

using namespace tessera;
using X = tensor<float, shape<3, 5, 4>>;
using model = conditioned<linear<2, 6>, condition_bias<6, 4>>;
using C = tensor<float, shape<3, 2>>;

auto main() -> int {
  static inference<model, X, given_as<tag::condition, C>> run;
  static parameters_of<model, owned<float>> p;
  static X x;
  static C c;
  (void)run.resume(p, x, given(c));
#ifdef TESSERA_MUST_FAIL
  (void)run.resume(p, x);
#endif
}
