// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/core/unrolled.hpp>

#include <vector>

TEST_CASE("unrolled: every index once, in order, as a constant") {
  auto seen = std::vector<std::size_t>{};
  tessera::unrolled<4>([&](auto i) {
    static_assert(decltype(i)::value < 4);
    seen.push_back(i);
  });
  CHECK(seen == std::vector<std::size_t>{0, 1, 2, 3});
}
