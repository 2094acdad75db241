// SPDX-License-Identifier: MIT
// EXPECT: this layer reads parameters after it added to their gradient
// EXPECT: at_position<1>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
template <class Norm> using model = sequential<conv2d<1, 4, 3>, Norm, linear<4, 1>>;
using X = tensor<float, shape<1, 4, 4, 1>>;
template <class Norm> using trained = training<model<Norm>, X, fused_gradient_descent>;

template <class Training> auto one_step(Training& t) {
  static typename Training::output const y{};
  return t.step(X{}, y, mse{}, fused_gradient_descent{});
}

auto main() -> int {
  static trained<layer_norm<4>> good;
  one_step(good);
#ifdef TESSERA_MUST_FAIL
  static trained<group_norm<2, 4>> bad;
  one_step(bad);
#endif
}
