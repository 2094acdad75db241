// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/generate/stop_strings.hpp>

#include <chrono>
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

/// The definition: at each byte every string is compared with the end of the text.
class plain_strings {
 public:
  explicit plain_strings(std::vector<std::string> strings) : strings_(std::move(strings)) {}

  auto append(std::string_view piece) -> std::string {
    if (not found.empty()) return {};
    auto const first = text_.size() + 1;
    text_ += piece;
    for (auto end = first; end <= text_.size(); ++end) {
      for (auto const& s : strings_)
        if (text_.substr(0, end).ends_with(s) && s.size() > found.size()) found = s;
      if (not found.empty()) return give(end - found.size());
    }
    auto most = std::size_t{0};
    for (auto const& s : strings_)
      for (auto n = std::size_t{1}; n < s.size(); ++n)
        if (text_.ends_with(s.substr(0, n))) most = std::max(most, n);
    return give(text_.size() - most);
  }
  auto finish() -> std::string { return found.empty() ? text_.substr(given_) : std::string{}; }

  std::string found;

 private:
  auto give(std::size_t end) -> std::string {
    while (end > given_ && end < text_.size() && (text_[end] & 0xC0) == 0x80) --end;
    auto const from = std::exchange(given_, end);
    return text_.substr(from, end - from);
  }

  std::vector<std::string> strings_;
  std::string text_;
  std::size_t given_ = 0;
};

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
TEST_CASE("stop_strings: piece by piece what the definition gives away") {
  auto generator = std::mt19937(2);
  auto const letters = std::vector<std::string>{"a", "b", "\xC3\xA9", "\xE2\x82\xAC", "\xA9"};
  auto const random_text = [&](std::size_t n, std::size_t of) {
    auto s = std::string{};
    for (auto i = std::size_t{0}; i < n; ++i) s += letters[generator() % of];
    return s;
  };
  auto stops = 0;
  for (auto trial = 0; trial < 4000; ++trial) {
    auto const of = 1 + generator() % letters.size();
    auto strings = std::vector<std::string>{};
    for (auto n = generator() % 4; n < 4; ++n)
      strings.push_back(random_text(1 + generator() % 12, of));
    auto filter = stop_strings(strings);
    auto plain = plain_strings(strings);
    auto const text = random_text(generator() % 80, std::min<std::size_t>(of + 1, letters.size()));
    auto const longest = 1 + generator() % 20;
    for (auto at = std::size_t{0}; at < text.size();) {
      auto const piece = text.substr(at, generator() % (longest + 1));
      at += piece.size();
      CHECK(filter.append(piece) == plain.append(piece));
    }
    CHECK(filter.finish() == plain.finish());
    CHECK(filter.found() == plain.found);
    stops += plain.found.empty() ? 0 : 1;
  }
  CHECK(stops > 1000);
  CHECK(stops < 3500);
}
TEST_CASE("stop_strings: a long string like itself costs no more for each byte than a short one") {
  constexpr auto half = std::size_t{500'000};
  auto const stop = std::string(half, '#') + 'c' + std::string(2 * half, '#');
  auto filter = stop_strings({stop, stop.substr(1), stop.substr(2), stop.substr(3)});
  auto const begin = std::chrono::steady_clock::now();
  auto given = std::size_t{0};
  for (auto i = 0; i < 50; ++i) given += filter.append(std::string(20'000, '#')).size();
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds{5});
  CHECK(given == 50 * 20'000 - half);
  CHECK(filter.append("c" + std::string(2 * half, '#')).empty());
  CHECK((filter.found() == stop));
}
TEST_CASE("stop_strings: refuses an empty one") {
  CHECK_THROWS_AS(stop_strings({"a", ""}), std::invalid_argument);
}
