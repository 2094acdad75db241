// SPDX-License-Identifier: MIT
// EXPECT: pack_parameters: the parameters are those of another model
// LINES: 30 40
#include <tessera/tessera.hpp>

using namespace tessera;

auto main() -> int {
  static parameters_of<linear<6, 8>, owned<float>> p;
#ifdef TESSERA_MUST_FAIL
  static parameters_of<linear<9, 8>, packed<float>> q;
#else
  static parameters_of<linear<6, 8>, packed<float>> q;
#endif
  pack_parameters(p, q);
}
