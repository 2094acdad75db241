// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/core/nothing.hpp>

#include <type_traits>

static_assert(std::is_empty_v<tessera::nothing>);
TEST_CASE("nothing: one object for each empty type") {
  auto& a = tessera::empty_object<tessera::nothing>;
  auto& b = tessera::empty_object<tessera::nothing>;
  CHECK(&a == &b);
}
