// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/serve/sequences.hpp>

#include "test_models.hpp"

using namespace tessera;
using namespace std::chrono_literals;

namespace {
auto table(sequence_options options) {
  return sequence_table(std::make_shared<test::sum_so_far>(), options);
}
}  // namespace

TEST_CASE("sequences: one that was not begun is not there, one that was is the same") {
  auto known = table({});
  CHECK(known.find("a") == nullptr);
  auto const a = known.begin("a");
  REQUIRE(a != nullptr);
  CHECK(a->bytes == std::vector<std::byte>(8));
  CHECK(known.find("a") == a);
  CHECK(known.contains("a"));
  auto const anew = known.begin("a");
  CHECK(anew != a);
  CHECK(known.find("a") == anew);
  known.end("a", a);  // the one before
  CHECK(known.find("a") == anew);
  known.end("a", anew);
  CHECK(known.find("a") == nullptr);
}
TEST_CASE("sequences: there are so many, and those that are idle make room") {
  auto known = table({.most = 2, .idle_timeout = 1h});
  CHECK(known.begin("a") != nullptr);
  CHECK(known.begin("b") != nullptr);
  CHECK(known.begin("c") == nullptr);
  CHECK(known.begin("a") != nullptr);
  CHECK(known.size() == 2);
  auto forgetful = table({.most = 1, .idle_timeout = 0ms});
  (void)forgetful.begin("a");
  std::this_thread::sleep_for(1ms);
  CHECK(forgetful.begin("b") != nullptr);
}
TEST_CASE("sequences: an idle one is forgotten, one that waits for its answer is not") {
  auto known = table({.idle_timeout = 1ms});
  auto held = known.begin("a");
  std::this_thread::sleep_for(3ms);
  CHECK(known.find("a") == held);
  held.reset();
  std::this_thread::sleep_for(3ms);
  CHECK_FALSE(known.contains("a"));
  CHECK(known.find("a") == nullptr);
  CHECK(known.size() == 0);
}
TEST_CASE("sequences: one that has lost a request is not there any more") {
  auto known = table({});
  known.begin("a")->broken = true;
  CHECK(known.find("a") == nullptr);
}
