// SPDX-License-Identifier: MIT
// One model in every use: sample by sample, as a whole sequence, and a training pass.
#include <tessera/tessera.hpp>

using model = tessera::sequential<tessera::lstm<5, 64>, tessera::linear<64, 1>>;
using sample = tessera::tensor<float, tessera::shape<4, 5>>;
using sequence = tessera::tensor<float, tessera::shape<50, 4, 5>>;

static tessera::streaming<model, sample> stream;
static tessera::inference<model, sequence> whole;
static tessera::differentiation<model, sequence> pass;

auto main() -> int {
  static constexpr auto x = sequence{};
  static constexpr auto first = sample{};
  pass.forward(pass.gradient, x);
  pass.backward(pass.gradient, x);
  auto const y = whole(pass.gradient, x);
  auto const z = stream.step(pass.gradient, first);
  return y.data()[0] == z.data()[0] ? 0 : 1;
}
