// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/core/path_name.hpp>

#include <string>

using tessera::path_name;

static_assert((path_name{} / 0 / path_name("weight_ih_l", 12)) == "0.weight_ih_l12");
static_assert((path_name("a") / path_name{}) == "a");
static_assert(path_name("", 1234567890) == "1234567890");
TEST_CASE("path_name: what does not fit ends in three dots") {
  auto const longest = std::string(path_name::capacity, 'x');
  auto const longer = std::string(path_name::capacity + 5, 'x');
  CHECK(std::string(path_name(longest.c_str()).c_str()) == longest);
  auto const cut = std::string(path_name(longer.c_str()).c_str());
  CHECK(cut.size() == path_name::capacity);
  CHECK(cut.substr(cut.size() - 4) == "x...");
  CHECK(path_name(longer.c_str()).is_cut());
  CHECK_FALSE(path_name(longest.c_str()).is_cut());
  CHECK_FALSE(path_name("...").is_cut());
}
