// SPDX-License-Identifier: MIT
// EXPECT: a layer needs an input that the object is not made for
// EXPECT: input_given<tessera::tag::memory>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using X = tensor<float, shape<3, 2, 4>>;
using model = sequential<linear<4, 4>, attention_layer<4, attention_options{.memory = 4}>>;

auto main() -> int {
  static inference<model, X, given_as<tag::memory, X>> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static inference<model, X> bad;
  (void)bad;
#endif
}
