// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/ops/upsample.hpp>

using namespace tessera;

TEST_CASE("upsample: every pixel of y shows one of x, each of them factor squared times") {
  auto const g =
      detail::upsample_geometry{.batch = 2, .height = 3, .width = 4, .channels = 5, .factor = 3};
  auto times = std::vector<int>(2 * 3 * 4);
  for (auto at = std::size_t{0}; at < g.pixels(); ++at) {
    auto const b = at / (9 * 12);
    auto const row = at / 12 % 9;
    auto const column = at % 12;
    CHECK(g.source(at) == ((b * 3 + row / 3) * 4 + column / 3) * 5);
    ++times[g.source(at) / 5];
  }
  for (auto const n : times) CHECK(n == 9);
}
