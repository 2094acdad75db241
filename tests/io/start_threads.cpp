// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/room_for_threads.hpp>
#include <tessera/io/start_threads.hpp>

#include <atomic>

using namespace tessera;

namespace {

/// Threads that wait until they are stopped, and count themselves by their numbers.
struct waiting {
  std::vector<std::thread> threads = {};
  std::atomic<bool> ends = false;
  std::atomic<std::size_t> numbers = 0;
  int stops = 0;

  void start(std::size_t first, std::size_t count) {
    detail::start_threads(
        threads, "test", first, count,
        [this](std::size_t i) {
          numbers += i;
          ends.wait(false);
        },
        [this] { stop(); });
  }
  void stop() {
    ++stops;
    ends = true;
    ends.notify_all();
    for (auto& thread : threads) thread.join();
    threads.clear();
  }
};

}  // namespace

TEST_CASE("start_threads: each number has a thread") {
  auto all = waiting{};
  all.start(1, 4);
  CHECK(all.threads.size() == 3);
  CHECK(all.stops == 0);
  all.stop();
  CHECK(all.numbers == 1 + 2 + 3);
  all.start(2, 2);
  CHECK(all.threads.empty());
}
TEST_CASE("start_threads: where one cannot be made the others are stopped, and it is named") {
  auto all = waiting{};
  {
    auto const room = test::room_for_one_thread{};
    CHECK_THROWS_WITH(all.start(1, 4), Catch::StartsWith("test: thread 3 of 4 cannot be made: "));
  }
  CHECK(all.stops == 1);
  CHECK(all.threads.empty());
}
