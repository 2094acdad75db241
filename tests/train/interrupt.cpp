// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/train/interrupt.hpp>

#include <thread>

using namespace tessera;

TEST_CASE("interrupt: a signal becomes a request, once") {
  {
    auto const guard = interrupt_guard{};
    CHECK_FALSE(interrupt_guard::requested());
    (void)std::raise(SIGINT);
    CHECK(interrupt_guard::requested());
  }
  auto const guard = interrupt_guard{};
  CHECK_FALSE(interrupt_guard::requested());
  (void)std::raise(SIGTERM);
  CHECK(interrupt_guard::requested());
}
TEST_CASE("interrupt: another thread sees the request") {
  auto const guard = interrupt_guard{};
  auto waits = std::thread([] {
    while (not interrupt_guard::requested()) std::this_thread::yield();
  });
  (void)std::raise(SIGINT);
  waits.join();
  CHECK(interrupt_guard::requested());
}
