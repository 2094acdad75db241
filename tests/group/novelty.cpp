// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/group/novelty.hpp>

using namespace tessera;

static_assert(trimmed(" \t a b\r\n") == "a b");
static_assert(trimmed(" \n").empty());

TEST_CASE("novelty: words in common, by all words; neither case nor repetition count") {
  CHECK(word_overlap("a b c d", "a b c e") == 3.0 / 5);
  CHECK(word_overlap("The sea, the SEA!", "sea the") == 1);
  CHECK(word_overlap("one", "two") == 0);
  CHECK(word_overlap("", "...") == 1);
  CHECK(word_overlap("", "word") == 0);
  CHECK(word_overlap("na\xC3\xAFve caf\xC3\xA9", "caf\xC3\xA9") == 0.5);
}
TEST_CASE("novelty: signs and numbers are words") {
  CHECK(word_overlap("1", "-1") == 0.5);
  CHECK(word_overlap("C", "C++") == 0.5);
  CHECK(word_overlap("C#", "C++") == 1.0 / 3);
  CHECK(word_overlap("3.5", "5.3") == 0);
  CHECK(word_overlap("[1,2,3.]", "[1, 2, 3]") == 1);
  CHECK(word_overlap("5%", "5") == 0.5);
  CHECK(word_overlap("- well-known\n# **4**\n> 4\n+ 4", "well known: 4") == 1);
  CHECK(word_overlap("It is 4.", "it is: 4") == 1);
  CHECK(word_overlap("a,b.", "a b") == 1);
}
TEST_CASE("novelty: the cosine of vectors, of which each text's is made once") {
  auto made = std::vector<std::string>{};
  auto const similarity = vector_similarity([&](std::string_view text) {
    made.emplace_back(text);
    auto result = std::vector<float>(text == "longer" ? 3 : 2);
    for (auto const letter : text) {
      if (letter == 'x') result[0] += 1;
      if (letter == 'y') result[1] += 1;
    }
    return result;
  });
  CHECK(similarity("x", "y") == 0);
  CHECK(similarity("xy", "xxyy") == Approx(1).margin(1e-15));
  CHECK(similarity("x", "xy") == Approx(std::sqrt(0.5)).margin(1e-15));
  CHECK(similarity("x", "none") == 0);
  auto const copy = similarity;
  CHECK(copy("xy", "x") == similarity("x", "xy"));
  CHECK(made == std::vector<std::string>{"x", "y", "xy", "xxyy", "none"});
  CHECK_THROWS_WITH(similarity("x", "longer"),
                    "vector_similarity: expected vectors of one length, got 2 and 3");
}
