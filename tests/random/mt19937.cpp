// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/random/mt19937.hpp>

#include <random>
#include <type_traits>

using tessera::mt19937;

static_assert(std::is_trivially_copyable_v<mt19937>, "a state that can be saved");
static_assert(mt19937(1)() == 1791095845U && mt19937()() == 3499211612U);

TEST_CASE("mt19937: the standard's known value") {
  auto g = mt19937();
  for (auto i = 0; i < 9999; ++i) (void)g();
  CHECK(g() == 4123659995U);
}
TEST_CASE("mt19937: the standard library's engine gives the same words") {
  for (auto const seed : {0U, 1U, 42U, 4294967295U}) {
    auto ours = mt19937(seed);
    auto theirs = std::mt19937(seed);
    for (auto i = 0; i < 2000; ++i) CHECK(ours() == theirs());
  }
}
TEST_CASE("mt19937: a copy goes on alike") {
  auto g = mt19937(7);
  for (auto i = 0; i < 1000; ++i) (void)g();
  auto copy = g;
  CHECK(copy == g);
  for (auto i = 0; i < 1000; ++i) CHECK(copy() == g());
  (void)g();
  CHECK_FALSE(copy == g);
}
