// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/train/workers.hpp>

#include <numeric>
#include <stdexcept>

using namespace tessera;

TEST_CASE("workers: every task once, loop after loop") {
  for (auto const threads : {0U, 1U, 2U, 4U, 7U}) {
    auto team = workers(threads);
    auto counts = std::vector<int>(100);
    for (auto loop = 0; loop < 50; ++loop)
      team.run(counts.size(), [&](std::size_t i) { ++counts[i]; });
    for (auto const n : counts) CHECK(n == 50);
    team.run(0, [](std::size_t) { FAIL("there is no task"); });
  }
}
TEST_CASE("workers: what a task throws is thrown by the loop, and the team goes on") {
  auto team = workers(3);
  CHECK_THROWS_WITH(team.run(5,
                             [](std::size_t i) {
                               if (i == 4) throw std::runtime_error("task 4");
                             }),
                    "task 4");
  auto counts = std::vector<int>(5);
  team.run(5, [&](std::size_t i) { ++counts[i]; });
  CHECK(std::accumulate(counts.begin(), counts.end(), 0) == 5);
}
