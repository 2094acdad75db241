// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/generate/constraint.hpp>

#include <random>

using namespace tessera;
using Catch::Matchers::Contains;

namespace {

auto made_index(std::vector<std::string> tokens) {
  return std::make_shared<token_index const>(std::move(tokens));
}
/// Letters, pairs of them, and an end without bytes: token 0.
auto letters() {
  auto tokens = std::vector<std::string>{""};
  for (auto const* t : {"a", "b", "c", "1", "0", " ", "ab", "bc", "abc", "10", "agent", "e"})
    tokens.emplace_back(t);
  return made_index(tokens);
}
auto tokens_of(std::span<std::uint32_t const> allowed) {
  return std::vector<std::uint32_t>{allowed.begin(), allowed.end()};
}

}  // namespace

TEST_CASE("choice_constraint: tokens that begin what is left") {
  auto choice = choice_constraint(letters(), {"abc", "b1"});
  CHECK(tokens_of(choice.allowed()) == std::vector<std::uint32_t>{1, 2, 7, 9});  // a b ab abc
  choice.accept(7);
  CHECK(not choice.choice());
  CHECK(tokens_of(choice.allowed()) == std::vector<std::uint32_t>{3});
  CHECK_THROWS_WITH(choice.accept(2), Contains("token 2 does not lead"));
  choice.accept(3);
  CHECK(choice.allowed().empty());
  CHECK(choice.choice() == 0);
}
TEST_CASE("choice_constraint: no way that leads nowhere") {
  // Without "b" alone, "a" would leave "bc", which no token spells.
  auto choice = choice_constraint(made_index({"", "a", "ab", "c"}), {"abc"});
  CHECK(tokens_of(choice.allowed()) == std::vector<std::uint32_t>{2});
}
TEST_CASE("choice_constraint: a token that ends tells the shorter of two") {
  auto shorter = choice_constraint(letters(), {"1", "10"}, 0);
  CHECK(tokens_of(shorter.allowed()) == std::vector<std::uint32_t>{4, 10});
  shorter.accept(4);
  CHECK(tokens_of(shorter.allowed()) == std::vector<std::uint32_t>{0, 5});
  shorter.accept(0);
  CHECK(shorter.choice() == 0);
  auto longer = choice_constraint(letters(), {"1", "10"}, 0);
  longer.accept(4);
  longer.accept(5);
  CHECK(longer.choice() == 1);
}
TEST_CASE("choice_constraint: every walk ends in one of the texts, and each is reached") {
  auto generator = std::mt19937(2);
  auto const texts = std::vector<std::string>{"agent1", "agent10", "agent0", "abcabc", "b c"};
  auto reached = std::vector<int>(texts.size());
  // "agent" is a token; its other letters but a and e are not.
  auto const index = letters();
  for (auto walk = 0; walk < 2000; ++walk) {
    auto choice = choice_constraint(index, texts, 0);
    auto text = std::string{};
    for (auto step = 0; not choice.allowed().empty(); ++step) {
      REQUIRE(step < 10);
      auto const allowed = choice.allowed();
      auto const token = allowed[generator() % allowed.size()];
      text += index->bytes(token);
      choice.accept(token);
    }
    REQUIRE(choice.choice());
    CHECK(text == texts[*choice.choice()]);
    ++reached[*choice.choice()];
  }
  for (auto const count : reached) CHECK(count > 0);
}
TEST_CASE("choice_constraint: refuses what cannot be answered") {
  CHECK_THROWS_WITH(choice_constraint(letters(), {}), Contains("a text at least"));
  CHECK_THROWS_WITH(choice_constraint(letters(), {"a", ""}), Contains("an empty one"));
  CHECK_THROWS_WITH(choice_constraint(letters(), {"a", "xyz"}), Contains("spell \"xyz\""));
  CHECK_THROWS_WITH(choice_constraint(letters(), {"a", "abc"}),
                    Contains("\"a\" begins \"abc\", and no token ends"));
}
