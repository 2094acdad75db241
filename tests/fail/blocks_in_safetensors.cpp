// SPDX-License-Identifier: MIT
// EXPECT: a safetensors file has no numbers in blocks of 32: a GGUF file has
#include <tessera/io/parameters.hpp>
#include <tessera/tessera.hpp>

using namespace tessera;

auto main() -> int {
  auto const file = mapped_file("model.safetensors");
#ifdef TESSERA_MUST_FAIL
  static parameters_of<linear<64, 2>, mapped<float, q8_0>> p;
#else
  static parameters_of<linear<64, 2>, mapped<float, bf16>> p;
#endif
  map_parameters(file, p);
}
