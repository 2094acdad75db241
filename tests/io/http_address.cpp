// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/io/http_address.hpp>

using namespace tessera;

TEST_CASE("http_address: host, port and the beginning of paths") {
  auto const whole = http_address("http://a.b-c_d:81/e/f/");
  CHECK(whole.host == "a.b-c_d");
  CHECK(whole.name() == whole.host);
  CHECK(whole.port == "81");
  CHECK(whole.prefix == "/e/f");
  auto const bare = http_address("http://a");
  CHECK(bare.port == "80");
  CHECK(bare.prefix.empty());
  CHECK(http_address("http://127.0.0.1:65535//").prefix.empty());
}
TEST_CASE("http_address: an address of IPv6 has brackets, which no resolver knows") {
  auto const one = http_address("http://[::1]:80/v1");
  CHECK(one.host == "[::1]");
  CHECK(one.name() == "::1");
  CHECK(one.port == "80");
  CHECK(http_address("http://[fe80::1%eth0]").port == "80");
}
TEST_CASE("http_address: what is none is refused, and named") {
  for (auto const* const url : {"",
                                "a:80",
                                "https://a",
                                "HTTP://a",
                                "http://",
                                "http://:80",
                                "http:///v1",
                                "http://a:",
                                "http://a:x",
                                "http://a:0",
                                "http://a:65536",
                                "http://a:99999999999999999999",
                                "http://a:-1",
                                "http://[::1",
                                "http://[::1]x",
                                "http://[]",
                                "http://[::1]:",
                                "http://::1",
                                "http://a b",
                                "http://u@a",
                                "http://a?b",
                                "http://a/b c",
                                "http://a/b?c=d",
                                "http://a/#b",
                                "http://a/\xC3\xA9",
                                "http://a\r\nX: y"}) {
    INFO(url);
    CHECK_THROWS_WITH(http_address(url), "expected http://<host>:<port>, got " + std::string{url});
  }
}
