// SPDX-License-Identifier: MIT
// EXPECT: attention: half_cache is for floats, on a host
// LINES: 16 34
#include <tessera/tessera.hpp>

using namespace tessera;
using model = sequential<
    self_attention<4, self_attention_options{.causal = true, .half_cache = true, .context = 9}>>;

auto main() -> int {
  static inference<model, tensor<float, shape<3, 2, 4>>> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static inference<model, tensor<double, shape<3, 2, 4>>> bad;
  (void)bad;
#endif
}
