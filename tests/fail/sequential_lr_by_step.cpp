// SPDX-License-Identifier: MIT
// EXPECT: sequential_lr: its parts count as it does
// LINES: 12
#include <tessera/optim/schedule.hpp>

using namespace tessera;

auto main() -> int {
#ifdef TESSERA_MUST_FAIL
  auto const warm_up = by_step{linear_lr{}};
#else
  auto const warm_up = linear_lr{};
#endif
  return sequential_lr{warm_up, cosine_lr{}, 500}.rate(1, 0) > 0 ? 0 : 1;
}
