// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/serve/json_body.hpp>

using namespace tessera;
using Catch::Contains;

TEST_CASE("json_body: what is JSON is read") {
  CHECK(json_of_body(R"({"a":[1,"]}[[{,\"",true]})")["a"][1] == "]}[[{,\"");
  CHECK(json_of_body("[[[1]]]", {.depth = 3}).is_array());
  CHECK(json_of_body("[1,2,3]", {.values = 3}).size() == 3);
}
TEST_CASE("json_body: what is none, or too much, is 400 before it is built") {
  CHECK_THROWS_WITH(json_of_body("[[[[1]]]]", {.depth = 3}), Contains("at most 3 levels"));
  CHECK_THROWS_WITH(json_of_body("[1,2,3,4]", {.values = 3}), Contains("at most 3 values"));
  CHECK_THROWS_WITH(json_of_body(std::string(1U << 22U, '[')), Contains("at most 16 levels"));
  CHECK_THROWS_WITH(json_of_body("[1e999]"), Contains("too large"));
  for (auto const* text : {"", "{", "]", "[1,]", "nul", "\"a", "{\"a\":1}x", "\xff", "\"\xc3\x28\"",
                           "[NaN]", "\"\\", "\"\\ud800\""})
    CHECK_THROWS_AS(json_of_body(text), http_error);
}
