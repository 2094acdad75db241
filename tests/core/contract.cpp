// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/core/contract.hpp>

constexpr auto kept() -> bool {
  tessera::require(true, "kept");
  return true;
}
static_assert(kept());
TEST_CASE("contract: a broken one names its rule") {
  CHECK_NOTHROW(tessera::require(true, "kept"));
  CHECK_THROWS_WITH(tessera::require(false, "a rule"), "a rule");
}
