// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/serve/http.hpp>

using namespace tessera;

TEST_CASE("http: headers are found without case, the first of a name") {
  auto request = http_request{};
  request.headers = {{"Content-Type", "a"}, {"X-Id", "1"}, {"x-id", "2"}};
  CHECK(request.header("content-TYPE") == "a");
  CHECK(request.header("X-ID") == "1");
  CHECK_FALSE(request.header("X-I"));
}
TEST_CASE("http: an error is JSON whatever its text") {
  CHECK(json_escaped("a\"b\\c\n\x01") == R"(a\"b\\c\n\u0001)");
  CHECK(error_body(400, "got \xff\"") == R"({"error":"got ?\""})");
}
TEST_CASE("http: an address of IPv6 stands in brackets") {
  CHECK(http_place("localhost", 80) == "localhost:80");
  CHECK(http_place("::1", 8000) == "[::1]:8000");
}
TEST_CASE("http: too many means come again") {
  auto const e = too_many("no place");
  CHECK(e.status == 429);
  REQUIRE(e.headers.size() == 1);
  CHECK(e.headers[0].name == "Retry-After");
  CHECK(status_text(429) == "Too Many Requests");
  CHECK(status_text(299) == "Unknown");
}
