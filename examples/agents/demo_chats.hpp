// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// Questions with answers, made here: what a very small model can learn in half a minute.
namespace agents {

struct question {
  std::string text;
  std::string answer;
};

/// Each fact is asked for in some of the ways to ask, and in the one that is left over it is held
/// out: a model that answers those has learnt the facts, and the ways apart from them.
struct chats {
  std::vector<question> train;
  std::vector<question> held_out;
};

namespace facts {

/// A '%' in a way to ask stands for what is asked about.
inline constexpr std::size_t ways = 6;
using ways_to_ask = std::array<std::string_view, ways>;
struct fact {
  std::string_view about;
  std::string_view answer;
};

inline constexpr auto capital_ways = ways_to_ask{
    "What is the capital of %?", "Name the capital of %.",        "Which city is the capital of %?",
    "Tell me the capital of %.", "Do you know the capital of %?", "Please say the capital of %."};
inline constexpr fact capitals[] = {
    {"France", "Paris"},     {"Italy", "Rome"},    {"Spain", "Madrid"},    {"Germany", "Berlin"},
    {"Austria", "Vienna"},   {"Poland", "Warsaw"}, {"Norway", "Oslo"},     {"Sweden", "Stockholm"},
    {"Finland", "Helsinki"}, {"Greece", "Athens"}, {"Portugal", "Lisbon"}, {"Ireland", "Dublin"},
    {"Japan", "Tokyo"},      {"China", "Beijing"}, {"Egypt", "Cairo"},     {"Peru", "Lima"}};

inline constexpr auto opposite_ways =
    ways_to_ask{"What is the opposite of %?",       "Name the opposite of %.",
                "Which word is the opposite of %?", "Tell me the opposite of %.",
                "Do you know the opposite of %?",   "Please say the opposite of %."};
inline constexpr fact opposites[] = {
    {"hot", "cold"},    {"big", "small"},  {"fast", "slow"},  {"old", "new"},
    {"day", "night"},   {"up", "down"},    {"wet", "dry"},    {"happy", "sad"},
    {"open", "closed"}, {"light", "dark"}, {"early", "late"}, {"full", "empty"},
    {"high", "low"},    {"hard", "soft"},  {"left", "right"}, {"loud", "quiet"}};

inline constexpr auto color_ways = ways_to_ask{
    "What is the color of %?", "Name the color of %.",        "And what is the color of %?",
    "Tell me the color of %.", "Do you know the color of %?", "Please say the color of %."};
inline constexpr fact colors[] = {
    {"the sky", "blue"},    {"grass", "green"},    {"snow", "white"},      {"coal", "black"},
    {"blood", "red"},       {"a lemon", "yellow"}, {"a carrot", "orange"}, {"chocolate", "brown"},
    {"a violet", "purple"}, {"ash", "gray"},       {"milk", "white"},      {"a tomato", "red"}};

inline constexpr auto next_ways = ways_to_ask{"What comes after %?",
                                              "Name what comes after %.",
                                              "Which word comes after %?",
                                              "Tell me what comes after %.",
                                              "Do you know what comes after %?",
                                              "Please say what comes after %."};
inline constexpr fact next[] = {
    {"Monday", "Tuesday"},  {"Tuesday", "Wednesday"}, {"Wednesday", "Thursday"},
    {"Thursday", "Friday"}, {"Friday", "Saturday"},   {"Saturday", "Sunday"},
    {"Sunday", "Monday"},   {"one", "two"},           {"two", "three"},
    {"three", "four"},      {"four", "five"},         {"five", "six"},
    {"six", "seven"},       {"seven", "eight"},       {"eight", "nine"},
    {"nine", "ten"}};

[[nodiscard]] inline auto asked(std::string_view way, std::string_view about) -> std::string {
  auto const at = way.find('%');
  return std::string{way.substr(0, at)}.append(about).append(way.substr(at + 1));
}
inline void add_fact(chats& to, ways_to_ask const& all, std::string_view about,
                     std::string_view answer, std::size_t left_over) {
  for (auto way = std::size_t{0}; way < ways; ++way)
    (way == left_over ? to.held_out : to.train)
        .push_back({asked(all[way], about), std::string{answer} + '.'});
}

}  // namespace facts

[[nodiscard]] inline auto make_chats() -> chats {
  auto result = chats{};
  auto const add = [&](facts::ways_to_ask const& all, std::span<facts::fact const> facts) {
    for (auto i = std::size_t{0}; i < facts.size(); ++i)
      facts::add_fact(result, all, facts[i].about, facts[i].answer, i % facts::ways);
  };
  add(facts::capital_ways, facts::capitals);
  add(facts::opposite_ways, facts::opposites);
  add(facts::color_ways, facts::colors);
  add(facts::next_ways, facts::next);
  return result;
}

}  // namespace agents
