// SPDX-License-Identifier: MIT
// EXPECT: the input, behind the parameters, is a tensor or a view of one
// EXPECT: input_is_a_tensor<tessera::tensor<float, tessera::shape<16, 4>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using model = linear<4, 1>;
using X = tensor<float, shape<16, 4>>;

auto main() -> int {
  static inference<model, X> run;
  static parameters_of<model, owned<float>> p;
  static X x;
  (void)run(p, x);
#ifdef TESSERA_MUST_FAIL
  (void)run(x, p);
#endif
}
