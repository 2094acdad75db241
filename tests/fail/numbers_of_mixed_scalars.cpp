// SPDX-License-Identifier: MIT
// EXPECT: numbers_of: the struct is no block of tensors of one scalar type
// LINES: 8
#include <tessera/tensor/parameters.hpp>

using namespace tessera;

struct quantized {
#ifdef TESSERA_MUST_FAIL
  using scalar = signed char;
#else
  using scalar = float;
#endif
  tensor<float, shape<16>> scale;
  tensor<scalar, shape<4, 16>> weight;
  TESSERA_PARAMETERS(scale, weight)
};

auto main() -> int {
  static quantized p;
  return numbers_of(p).data() == nullptr ? 1 : 0;
}
