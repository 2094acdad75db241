// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/train/settings_text.hpp>

using namespace tessera;

TEST_CASE("settings_text: the first setting that differs is named with both values") {
  CHECK(settings_difference("a: 1\nb: 2\n", "b: 2\na: 1").empty());
  CHECK(settings_difference("", "").empty());
  CHECK(settings_difference("a: 1\nb: 2\n", "a: 1\nb: 3\n") == "b: expected 2, got 3");
  CHECK(settings_difference("a: 1\n", "a: 1\nb: 3\n") == "b: expected none, got 3");
  CHECK(settings_difference("a: 1\nb: 2\n", "a: 1\n") == "b: expected 2, got none");
  CHECK(settings_difference("x", "y") == "x: expected , got none");
  CHECK(settings_difference("a: b: c", "a: b: d") == "a: expected b: c, got b: d");
  CHECK(settings_difference("b: 1\n# c: 2\n", "b: 2\n# c: 3\n") == "b: expected 1, got 2");
  CHECK(settings_difference("b: 1\n# c: 2\n", "b: 1\n# c: 3\n") == "c: expected 2, got 3");
}
TEST_CASE("settings_text: what is echoed is short and stays on its line") {
  CHECK(shortened("short") == "short");
  CHECK(shortened(std::string(10'000'000, 'x')) == std::string(60, 'x') + "...");
  CHECK(shortened("a\n\x1b[2Jb") == "a  [2Jb");
  CHECK(shortened("abc\xE2\x82\xAC", 5) == "abc...");
  CHECK(shortened("abc\xE2\x82\xAC", 6) == "abc\xE2\x82\xAC");
}
