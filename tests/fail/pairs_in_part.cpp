// SPDX-License-Identifier: MIT
// EXPECT: the inputs of an output, In, are a multiple of 32; of bf16 as_stored, of 16
// EXPECT: holds<.*got<.*shape<2, 40
#include <tessera/tessera.hpp>

using namespace tessera;

auto main() -> int {
#ifdef TESSERA_MUST_FAIL
  static parameters_of<linear<40, 2>, compact<float, as_stored<bf16>>> p;
#else
  static parameters_of<linear<48, 2>, compact<float, as_stored<bf16>>> p;
#endif
  (void)p;
}
