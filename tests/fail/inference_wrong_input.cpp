// SPDX-License-Identifier: MIT
// EXPECT: the model was made for another input shape
// EXPECT: tessera::shape<2, 4>
// EXPECT: tessera::shape<2, 5>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using model = sequential<linear<4, 8>, linear<8, 1>>;
using X = tensor<float, shape<2, 4>>;

auto main() -> int {
  static inference<model, X> run;
  static parameters_of<model, owned<float>> p;
  (void)run(p, X{});
#ifdef TESSERA_MUST_FAIL
  (void)run(p, tensor<float, shape<2, 5>>{});
#endif
}
