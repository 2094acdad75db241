// SPDX-License-Identifier: MIT
// EXPECT: the table belongs to another model
// LINES: 8
#include <tessera/compose/constant.hpp>
#include <tessera/tessera.hpp>

using namespace tessera;
constexpr float numbers[] = {1, 2, 3};
constexpr auto signature = signature_of(parameters_of<linear<2, 1>, counted>{});

auto main() -> int {
  constexpr auto p = constant_parameters<linear<2, 1>, signature>(numbers);
#ifdef TESSERA_MUST_FAIL
  constexpr auto q = constant_parameters<residual<linear<2, 1>>, signature>(numbers);
  (void)q;
#endif
  return p.bias.values[0] == 3 ? 0 : 1;
}
