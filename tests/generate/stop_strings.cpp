// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/generate/stop_strings.hpp>

#include <random>

using namespace tessera;

namespace {

/// What comes out of a text in pieces: all of it, and where it stopped.
struct outcome {
  std::string text;
  std::string found;
  auto operator==(outcome const&) const -> bool = default;
};
auto cut(std::vector<std::string> const& strings, std::vector<std::string> const& pieces)
    -> outcome {
  auto filter = stop_strings(strings);
  auto result = outcome{};
  for (auto const& piece : pieces) result.text += filter.append(piece);
  result.text += filter.finish();
  result.found = filter.found();
  return result;
}

}  // namespace

TEST_CASE("stop_strings: holds back what may begin one, across pieces") {
  auto filter = stop_strings({"END"});
  CHECK(filter.append("a E") == "a ");
  CHECK(filter.append("N") == "");
  CHECK(filter.append("x") == "ENx");
  CHECK(filter.append("yEN") == "y");
  CHECK(filter.append("D beyond") == "");
  CHECK(filter.stopped());
  CHECK(filter.found() == "END");
  CHECK(filter.append("more") == "");
  CHECK(filter.finish() == "");
}
TEST_CASE("stop_strings: what was held back comes at the end") {
  auto filter = stop_strings({"\n\n"});
  CHECK(filter.append("a\n") == "a");
  CHECK(filter.finish() == "\n");
}
TEST_CASE("stop_strings: the first to be complete, of several the longest") {
  CHECK(cut({"abc", "b"}, {"xabc"}) == outcome{"xa", "b"});
  CHECK(cut({"c", "bc", "abc"}, {"xab", "c"}) == outcome{"x", "abc"});
  CHECK(cut({"aab"}, {"aa", "ab"}) == outcome{"a", "aab"});
  CHECK(cut({}, {"a", "b"}) == outcome{"ab", ""});
}
TEST_CASE("stop_strings: gives away no part of a code point") {
  auto filter = stop_strings({"\xA9x"});  // begins inside of one
  CHECK(filter.append("a\xC3\xA9") == "a");
  CHECK(filter.append("b") ==
        "\xC3\xA9"
        "b");
  auto whole = stop_strings({"\xE2\x82\xAC!"});
  CHECK(whole.append("a\xE2\x82\xAC") == "a");
  CHECK(whole.append("?") == "\xE2\x82\xAC?");
}
TEST_CASE("stop_strings: the same for however the text is cut, and as a search says") {
  auto generator = std::mt19937(1);
  auto const letters = [&](std::size_t n) {
    auto s = std::string{};
    for (auto i = std::size_t{0}; i < n; ++i) s += static_cast<char>('a' + generator() % 2);
    return s;
  };
  auto stops = 0;
  for (auto trial = 0; trial < 3000; ++trial) {
    auto const strings = std::vector{letters(1 + generator() % 6), letters(2 + generator() % 6)};
    auto const text = letters(generator() % 30);
    auto want = outcome{text, ""};
    auto first_end = text.size() + 1;
    for (auto const& s : strings) {
      auto const at = text.find(s);
      if (at == std::string::npos) continue;
      auto const end = at + s.size();
      if (end > first_end || (end == first_end && s.size() < want.found.size())) continue;
      first_end = end;
      want = {text.substr(0, at), s};
    }
    auto pieces = std::vector<std::string>{};
    for (auto at = std::size_t{0}; at < text.size();) {
      auto const n = 1 + generator() % 5;
      pieces.push_back(text.substr(at, n));
      at += n;
    }
    CHECK(cut(strings, pieces) == want);
    stops += want.found.empty() ? 0 : 1;
  }
  CHECK(stops > 1000);
}
TEST_CASE("stop_strings: refuses an empty one") {
  CHECK_THROWS_AS(stop_strings({"a", ""}), std::invalid_argument);
}
