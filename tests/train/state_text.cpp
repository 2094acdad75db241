// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/train/state_text.hpp>

#include <limits>

using namespace tessera::detail;

TEST_CASE("state_text: every value comes back exactly") {
  auto const text = state_text(0.1, std::uint64_t{7}, true, std::string{"a=1.x"},
                               std::numeric_limits<double>::infinity());
  CHECK(text == "0.1 7 true a=1.x inf");
  auto words = state_words(text);
  auto number = 0.0;
  auto count = std::uint64_t{0};
  auto flag = false;
  auto name = std::string{};
  auto most = 0.0;
  words.read(number, count, flag, name, most);
  words.end();
  CHECK((number == 0.1 && count == 7 && flag && name == "a=1.x" && most > 1e308));
}
TEST_CASE("state_text: other words are refused") {
  auto const reads = [](char const* text) {
    auto words = state_words(text);
    auto number = 0.0;
    auto flag = false;
    words.read(number, flag);
    words.end();
  };
  CHECK_NOTHROW(reads("1 false"));
  for (auto const* const text : {"", "1", "x false", "1 maybe", "1 false 2", "1x true"})
    CHECK_THROWS_AS(reads(text), std::invalid_argument);
}
