// SPDX-License-Identifier: MIT
// EXPECT: probability: expected 0, or what rounds to 1 to 999999 millionths
#include <tessera/layers/dropout.hpp>

#ifdef TESSERA_MUST_FAIL
constexpr auto p = 0.9999999;
#else
constexpr auto p = 0.25;
#endif

auto main() -> int {
  using layer = tessera::dropout<p>;
  return static_cast<int>(sizeof(layer) - 1);
}
