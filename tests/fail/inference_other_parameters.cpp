// SPDX-License-Identifier: MIT
// EXPECT: the parameters are those of another model
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using model = linear<6, 8>;
using X = tensor<float, shape<2, 6>>;

auto main() -> int {
  static inference<model, X> run;
  static parameters_of<model, owned<float>> p;
  static parameters_of<linear<8, 6>, owned<float>> other;
  (void)run(p, X{});
#ifdef TESSERA_MUST_FAIL
  (void)run(other, X{});
#endif
  (void)other;
}
