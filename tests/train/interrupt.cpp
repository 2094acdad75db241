// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/train/interrupt.hpp>

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
