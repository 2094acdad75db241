// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/train/workers.hpp>

#include <fstream>
#include <numeric>
#include <stdexcept>

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

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

namespace {
/// As long as it lives there is memory for one more thread, whose stack is large, and for no
/// second.
class room_for_one_thread {
 public:
  room_for_one_thread() {
    auto pages = std::size_t{0};
    std::ifstream{"/proc/self/statm"} >> pages;
    (void)::getrlimit(RLIMIT_AS, &before_);
    auto const most = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + stack * 7 / 4;
    auto const less = rlimit{most, before_.rlim_max};
    (void)::setrlimit(RLIMIT_AS, &less);
    set_stack(stack);
  }
  room_for_one_thread(room_for_one_thread const&) = delete;
  auto operator=(room_for_one_thread const&) -> room_for_one_thread& = delete;
  ~room_for_one_thread() {
    set_stack(std::size_t{8} << 20U);
    (void)::setrlimit(RLIMIT_AS, &before_);
  }

 private:
  static constexpr auto stack = std::size_t{1} << 30U;
  static void set_stack(std::size_t bytes) {
    pthread_attr_t attributes;
    (void)::pthread_attr_init(&attributes);
    (void)::pthread_attr_setstacksize(&attributes, bytes);
    (void)::pthread_setattr_default_np(&attributes);
    (void)::pthread_attr_destroy(&attributes);
  }
  rlimit before_{};
};
}  // namespace

TEST_CASE("workers: a thread that cannot be made is an exception, and the others end") {
  {
    auto const room = room_for_one_thread{};
    CHECK_NOTHROW(workers(2));
    CHECK_THROWS_WITH(workers(4), Catch::Contains("workers: thread 3 of 4 cannot be made: "));
  }
  CHECK(workers(4).size() == 4);
}
