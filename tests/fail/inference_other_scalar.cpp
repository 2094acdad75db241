// SPDX-License-Identifier: MIT
// EXPECT: the model was made for another scalar type
// EXPECT: tensor<float
// EXPECT: tensor<double
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using model = sequential<linear<6, 8>, tanh_layer>;
using X = tensor<float, shape<2, 6>>;

auto main() -> int {
  static inference<model, X> run;
  static parameters_of<model, owned<float>> p;
  static tensor<double, shape<2, 6>> x;
  (void)run(p, X{});
#ifdef TESSERA_MUST_FAIL
  (void)run(p, x);
#endif
  (void)x;
}
