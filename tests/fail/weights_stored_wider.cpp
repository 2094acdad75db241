// SPDX-License-Identifier: MIT
// EXPECT: weights are stored in the scalar type of the model, bf16, f16 or std::int8_t
#include <tessera/tessera.hpp>

using namespace tessera;

auto main() -> int {
#ifdef TESSERA_MUST_FAIL
  static parameters_of<linear<4, 2>, packed<float, double>> p;
#else
  static parameters_of<linear<4, 2>, packed<float, bf16>> p;
#endif
  (void)p;
}
