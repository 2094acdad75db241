// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/core/nothing.hpp>

#include <type_traits>

namespace {
struct with_nothing {
  [[no_unique_address]] tessera::nothing none;
  int number;
};
}  // namespace

static_assert(tessera::is_empty<tessera::nothing> && not tessera::is_empty<with_nothing>);
static_assert(
    std::is_same_v<decltype((tessera::empty_object<tessera::nothing>)), tessera::nothing&>);
TEST_CASE("nothing: it takes no memory beside others") {
  CHECK(sizeof(with_nothing) == sizeof(int));
  CHECK(std::is_trivially_copyable_v<with_nothing>);
}
