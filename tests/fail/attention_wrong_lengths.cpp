// SPDX-License-Identifier: MIT
// EXPECT: expected<tessera::shape<2>
// EXPECT: got<tessera::shape<3>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using X = tensor<float, shape<3, 2, 4>>;
using model = sequential<linear<4, 4>, attention_layer<4, attention_options{.padded = true}>>;
template <std::size_t N> using lengths = given_as<tag::lengths, tensor<int, shape<N>>>;

auto main() -> int {
  static inference<model, X, lengths<2>> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static inference<model, X, lengths<3>> bad;
  (void)bad;
#endif
}
