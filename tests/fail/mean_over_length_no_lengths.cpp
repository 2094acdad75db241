// SPDX-License-Identifier: MIT
// EXPECT: a layer needs an input that the object is not made for
// EXPECT: input_given<tessera::tag::lengths>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using X = tensor<float, shape<3, 2, 4>>;
using N = tensor<std::int32_t, shape<2>>;

auto main() -> int {
  static inference<mean_over_length, X, given_as<tag::lengths, N>> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static inference<mean_over_length, X> bad;
  (void)bad;
#endif
}
