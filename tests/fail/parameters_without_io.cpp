// SPDX-License-Identifier: MIT
// EXPECT: load_parameters\(file, parameters\) is in <tessera/io/parameters.hpp>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;

auto main() -> int {
  static parameters_of<linear<4, 1>, owned<float>> p;
#ifdef TESSERA_MUST_FAIL
  load_parameters("model.safetensors", p);
#else
  clear_parameters(p);
#endif
}
