// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/group/prompt.hpp>

using namespace tessera;
using Catch::Contains;
using Catch::EndsWith;
using Catch::StartsWith;

namespace {

auto two_answers() -> group_view {
  return {.version = 3,
          .answers = {{"agent1", "it is four", 2}, {"agent3", "five", 1}},
          .may_vote = true};
}

}  // namespace

TEST_CASE("prompt: a round begins with the rules, the turns before and the current answers") {
  auto const task = group_task{"What is 2 + 2?", {{"What is 1 + 1?", "2"}}};
  auto const first = answering_prompt(task, {}, "You are terse.");
  REQUIRE(first.size() == 4);
  CHECK(first[0].role == "system");
  CHECK_THAT(first[0].content, StartsWith("You are terse.\n\nYou are one of several agents"));
  CHECK(first[1] == group_message{"user", "What is 1 + 1?"});
  CHECK(first[2] == group_message{"assistant", "2"});
  CHECK(first[3].role == "user");
  CHECK(first[3].content ==
        "<QUESTION>\nWhat is 2 + 2?\n</QUESTION>\n\nCURRENT ANSWERS: none yet\n\n"
        "You may give a new answer; there are none to vote for yet.");

  auto const later = answering_prompt({"What is 2 + 2?"}, two_answers());
  REQUIRE(later.size() == 2);
  CHECK_THAT(later[0].content, StartsWith("You are one of several agents"));
  CHECK_THAT(
      later[1].content,
      Contains(
          "CURRENT ANSWERS:\n<agent1>\nit is four\n</agent1>\n<agent3>\nfive\n</agent3>\n\n") &&
          EndsWith("You may give a new answer, or vote for one of agent1, agent3."));
}
TEST_CASE("prompt: who can do one thing alone is asked for it without rules, the question last") {
  auto const first = brief_prompt({"What is 2 + 2?", {{"What is 1 + 1?", "2"}}}, {});
  REQUIRE(first.size() == 4);
  CHECK(first[0].content ==
        "You are a helpful assistant.\n\nAnswer the question briefly and exactly.");
  CHECK(first[2] == group_message{"assistant", "2"});
  CHECK(first[3].content == "CURRENT ANSWERS: none yet\n\nQUESTION: What is 2 + 2?");
  auto const later = brief_prompt({"What is 2 + 2?"}, two_answers(), "You are terse.");
  CHECK_THAT(later[0].content, StartsWith("You are terse.\n\nAnswer"));
  CHECK_THAT(later[1].content, StartsWith("CURRENT ANSWERS:\n<agent1>\nit is four\n</agent1>") &&
                                   EndsWith("</agent3>\n\nQUESTION: What is 2 + 2?"));
  auto view = two_answers();
  view.votes = {{"agent1", "agent3", "it is odd"}};
  auto const last = brief_presenting_prompt({"What is 2 + 2?"}, view, "agent3");
  REQUIRE(last.size() == 4);
  CHECK(last[1] == group_message{"user", "QUESTION: What is 2 + 2?"});
  CHECK(last[2] == group_message{"assistant", "five"});
  CHECK_THAT(last[3].content, Contains("<agent1>\nit is four\n") &&
                                  Contains("agent1 votes for agent3: it is odd") &&
                                  EndsWith("Give the final answer.\n\nQUESTION: What is 2 + 2?"));
}
TEST_CASE("prompt: who has given all its answers is told to vote") {
  auto view = two_answers();
  view.may_answer = false;
  CHECK(allowed_actions(view) ==
        "You may vote for one of agent1, agent3; you have given all answers that you may.");
  CHECK(action_format(view) ==
        "Reply with one JSON object and nothing else:\n"
        R"({"action": "vote", "agent": "agent1", "reason": "<why>"})");
  CHECK(action_format({}) ==
        "Reply with one JSON object and nothing else:\n"
        R"({"action": "new_answer", "content": "<your answer>"})");
  CHECK_THAT(action_format(two_answers()), Contains("\nor\n"));
}
TEST_CASE("prompt: new answers and corrections are told of alone") {
  CHECK(injected_text(two_answers(), 2) ==
        "While you were at it, NEW ANSWERS came:\n<agent1>\nit is four\n</agent1>\n\n"
        "Take them into account. You may give a new answer, or vote for one of agent1, agent3.");
  CHECK(correction_text(two_answers(), "expected one vote, got 2") ==
        "That did not count: expected one vote, got 2.\n"
        "You may give a new answer, or vote for one of agent1, agent3.");
}
TEST_CASE("prompt: the presenter sees all answers and all votes, and which answer is its own") {
  auto view = two_answers();
  view.votes = {{"agent1", "agent3", "it is odd"}, {"agent3", "agent3", "sure"}};
  auto const messages = presenting_prompt({"What is 2 + 2?"}, view, "agent3");
  REQUIRE(messages.size() == 2);
  CHECK_THAT(
      messages[1].content,
      Contains("of which yours is that of agent3:") && Contains("<agent1>\nit is four\n") &&
          Contains("VOTES:\nagent1 votes for agent3: it is odd\nagent3 votes for agent3: sure\n"));
}
