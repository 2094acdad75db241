// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/generate/generation.hpp>

using namespace tessera;

TEST_CASE("generation_ticket: says whether a request was taken, and cancels that one") {
  auto const cancelled = std::make_shared<std::atomic<bool>>(false);
  auto const taken = generation_ticket(admission::accepted, cancelled);
  CHECK(static_cast<bool>(taken));
  CHECK(not*cancelled);
  taken.cancel();
  CHECK(*cancelled);
  auto const refused = generation_ticket(admission::full);
  CHECK(not refused);
  CHECK(refused.admitted() == admission::full);
  CHECK_NOTHROW(refused.cancel());
}
