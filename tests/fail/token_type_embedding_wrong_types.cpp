// SPDX-License-Identifier: MIT
// EXPECT: expected<tessera::shape<3, 2>
// EXPECT: got<tessera::shape<3, 1>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using X = tensor<float, shape<3, 2, 4>>;
template <extent Lanes>
using types = given_as<tag::token_types, tensor<std::int32_t, shape<3, Lanes>>>;

auto main() -> int {
  static inference<token_type_embedding<2, 4>, X, types<2>> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static inference<token_type_embedding<2, 4>, X, types<1>> bad;
  (void)bad;
#endif
}
