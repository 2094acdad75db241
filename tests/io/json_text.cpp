// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/io/json_text.hpp>

using namespace tessera;

TEST_CASE("json_text: quotes, backslashes and control bytes are escaped, letters stay") {
  CHECK(json_escaped("a\"b\\c\n\x01") == R"(a\"b\\c\n\u0001)");
  CHECK(json_escaped("\b\f\r\t\x1f\x7f") == "\\b\\f\\r\\t\\u001f\x7f");
  CHECK(json_escaped(std::string_view{"a\0b", 3}) == "a\\u0000b");
  CHECK(json_text("\xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80") ==
        "\"\xC3\xA4 \xE2\x82\xAC \xF0\x9F\x98\x80\"");
  CHECK(json_text("") == "\"\"");
}
TEST_CASE("json_text: the first bytes that are no UTF-8 are found") {
  CHECK(find_no_utf8("a\xC3\xA9\xF0\x9F\x98\x80") == std::string_view::npos);
  CHECK(fault_of_utf8("").empty());
  CHECK(find_no_utf8("\xC3\xA9\xE9") == 2);
  CHECK(fault_of_utf8("abc\xE2\x82") == "expected UTF-8, byte 3 is none");
}
TEST_CASE("json_text: bytes that are no UTF-8 are replaced") {
  auto const none = std::string{"\xEF\xBF\xBD"};
  CHECK(json_escaped("a\xFF"
                     "b") == "a" + none + "b");
  CHECK(json_escaped("\xE2\x82") == none);                    // cut off
  CHECK(json_escaped("\xE2\x82\"") == none + "\\\"");         // the quote is none of its bytes
  CHECK(json_escaped("\xC0\xAF") == none + none);             // longer than need be
  CHECK(json_escaped("\xED\xA0\x80") == none + none + none);  // half of a pair
  CHECK(json_escaped("\xF4\x90\x80\x80") == none + none + none + none);
}
