// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/program/terminal_text.hpp>

using namespace tessera;

TEST_CASE("terminal_text: what a terminal would obey is a question mark") {
  CHECK(terminal_text("\x1b]0;title\x07\x1b[2J\r") == "?]0;title??[2J?");
  CHECK(terminal_text(std::string{"a\0b\x7f", 4}) == "a?b?");
  CHECK(terminal_text("\xC2\x80 \xC2\x9B 2J \xC2\x9F") == "? ? 2J ?");  // the same of C1
}
TEST_CASE("terminal_text: letters stay, and bytes that are none are told") {
  for (auto const* text : {"", "two\n\tlines", "\xC3\xA9 \xC2\xA0 \xE2\x82\xAC \xF0\x9F\x99\x82"})
    CHECK(terminal_text(text) == text);
  CHECK(terminal_text("caf\xE9 \x9B!") == "caf\xEF\xBF\xBD \xEF\xBF\xBD!");
}
