// SPDX-License-Identifier: MIT
#include <cstdio>

void lower();
void higher();

auto main() -> int {
#ifdef HAS_LOWER
  std::puts("lower");
  lower();
#endif
#ifdef HAS_HIGHER
  std::puts("higher");
  higher();
#endif
}
