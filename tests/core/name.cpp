// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/core/name.hpp>

#include <string>

using tessera::name;

static_assert((name{} / 0 / name("weight_ih_l", 12)) == "0.weight_ih_l12");
static_assert((name("a") / name{}) == "a");
static_assert(name("", 1234567890) == "1234567890");
TEST_CASE("name: what does not fit ends in three dots") {
  auto const longest = std::string(name::capacity, 'x');
  auto const longer = std::string(name::capacity + 5, 'x');
  CHECK(std::string(name(longest.c_str()).c_str()) == longest);
  auto const cut = std::string(name(longer.c_str()).c_str());
  CHECK(cut.size() == name::capacity);
  CHECK(cut.substr(cut.size() - 4) == "x...");
}
