// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/golden.hpp>
#include <tessera/data/shuffle.hpp>

#include <algorithm>

using namespace tessera;

TEST_CASE("shuffle: every example once, by seed and epoch alone") {
  auto const a = shuffled(1, 0, 1000);
  auto sorted = a;
  std::sort(sorted.begin(), sorted.end());
  for (auto i = 0U; i < 1000; ++i) REQUIRE(sorted[i] == i);
  CHECK(shuffled(1, 0, 1000) == a);
  CHECK(shuffled(1, 1, 1000) != a);
  CHECK(shuffled(0, 1, 1000) == a);
  CHECK(shuffled(3, 4, 0).empty());
}
TEST_CASE("shuffle: torch.randperm's order") {
  auto generator = torch_generator(5);
  auto want = std::vector<std::uint32_t>(40);
  generator.randperm(want.data(), want.size());  // against torch: tests/random/torch.cpp
  CHECK(shuffled(3, 2, 40) == want);
}
TEST_CASE("shuffle: more examples than can be numbered are refused") {
  CHECK_THROWS_WITH(shuffled(1, 0, std::size_t{1} << 32),
                    Catch::Contains("expected at most 4294967295 examples, got 4294967296"));
}
