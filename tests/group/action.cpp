// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/group/action.hpp>

using namespace tessera;
using Catch::Contains;

namespace {

auto fault(std::string_view reply) -> std::string {
  auto const action = parse_action(reply);
  return action.kind == group_event_kind::malformed ? action.text : std::string{};
}

}  // namespace

TEST_CASE("action: one JSON object is a vote or a new answer") {
  CHECK(parse_action(" {\"action\": \"new_answer\", \"content\": \"it is \\\"4\\\"\"}\n") ==
        agent_action{group_event_kind::answer, "", "it is \"4\""});
  CHECK(parse_action(R"({"reason": "right", "agent": "agent2", "action": "vote"})") ==
        agent_action{group_event_kind::vote, "agent2", "right"});
}
TEST_CASE("action: the JSON may be in a block of code, if that is the only one") {
  auto const vote = std::string{R"({"action": "vote", "agent": "agent2", "reason": "x"})"};
  auto const is = agent_action{group_event_kind::vote, "agent2", "x"};
  CHECK(parse_action("```json\n" + vote + "\n```") == is);
  CHECK(parse_action("```\n" + vote + "```\n") == is);
  CHECK(parse_action("Here is my vote:\n```json\n" + vote + "\n```\nThat is it.") == is);
  CHECK(parse_action("```json " + vote + "```") == is);
  CHECK(parse_action("Here is my vote:\n ```" + vote + " ``` \r\nThat is it.") == is);
  for (auto const& text : std::vector<std::string>{
           "```json\n" + vote + "\n```\n```json\n" + vote + "\n```", "```json\n" + vote,
           "```json " + vote + "```\n```json " + vote + "```", "So: ``` " + vote + "```",
           "``` " + vote + "``` it is", "```json\n```", "``` ```", "```json```", "```",
           "```\n4 5\n``` ```"})
    CHECK_THAT(fault(text), Contains("expected one JSON object and nothing else"));
  CHECK_THAT(fault("```json\n" + vote + "\n" + vote + "\n```"), Contains("one vote, got 2"));
}
TEST_CASE("action: an answer in a block of code may have blocks of its own") {
  auto const answer =
      std::string{R"({"action": "new_answer", "content": "Use ```python\nprint(1)\n```"})"};
  auto const is = agent_action{group_event_kind::answer, "", "Use ```python\nprint(1)\n```"};
  for (auto const& text : std::vector<std::string>{
           answer, "```json\n" + answer + "\n```", "```json\r\n" + answer + "\r\n```\r\n",
           "````\n" + answer + "\n````", "  ```json\n" + answer + "\n  ```",
           "```\n" + answer + "```", "```json " + answer + "```",
           "Not ```this```:\n```json\n" + answer + "\n```\nThat is ```it```.",
           "```json\n{\"action\": \"new_answer\",\n \"content\": " + answer.substr(36) + "\n```"}) {
    INFO(text);
    CHECK(parse_action(text) == is);
  }
  CHECK(parse_action("Here it is: ```json\n" + answer + "\n```") == is);
  CHECK_THAT(fault("See ```json " + answer + "\n```"), Contains("got other text"));
  CHECK_THAT(fault("x" + std::string(100'000, '`')), Contains("got other text"));
  CHECK_THAT(fault("```\n" + std::string(100'000, '`')), Contains("got other text"));
}
TEST_CASE("action: what is wrong with a reply is said") {
  auto const vote = std::string{R"({"action": "vote", "agent": "agent2", "reason": "x"})"};
  auto const answer = std::string{R"({"action": "new_answer", "content": "x"})"};
  CHECK_THAT(fault(""), Contains("got nothing"));
  CHECK_THAT(fault("I vote for agent2."),
             Contains("one JSON object and nothing else, got other text"));
  CHECK_THAT(fault("Sure! " + vote), Contains("got other text"));
  CHECK_THAT(fault(vote + " That is it."), Contains("got other text"));
  CHECK_THAT(fault(vote.substr(0, 20)), Contains("got other text"));
  CHECK_THAT(fault(vote + vote), Contains("expected one vote, got 2"));
  CHECK_THAT(fault("[" + vote + "," + vote + "," + vote + "]"),
             Contains("expected one vote, got 3"));
  CHECK_THAT(fault(answer + "\n" + answer), Contains("expected one new answer, got 2"));
  CHECK_THAT(fault(vote + answer), Contains("a vote and a new answer together"));
  CHECK_THAT(fault(R"({"action": "vote", "agent": "agent2", "reason": "x", "content": "y"})"),
             Contains("a vote with the content of a new answer"));
  CHECK_THAT(fault(R"({"action": "new_answer", "content": "y", "agent": "agent2"})"),
             Contains("a new answer with the agent of a vote"));
  CHECK_THAT(fault(R"({"action": "vote", "reason": "x"})"), Contains("\"agent\""));
  CHECK_THAT(fault(R"({"action": "vote", "agent": 2, "reason": "x"})"), Contains("\"agent\""));
  CHECK_THAT(fault(R"({"action": "vote", "agent": "agent2"})"), Contains("\"reason\""));
  CHECK_THAT(fault(R"({"action": "new_answer"})"), Contains("\"content\""));
  CHECK_THAT(fault(R"({"action": "new_answer", "content": ["x"]})"), Contains("\"content\""));
  CHECK_THAT(fault(R"({"action": "new_answer", "content": "x", "more": 1})"), Contains("\"more\""));
  CHECK_THAT(fault(R"({"action": "sleep"})"), Contains("\"new_answer\" or \"vote\""));
  CHECK_THAT(fault("4 5"), Contains("expected one JSON object, got 2"));
  CHECK_THAT(fault("4"), Contains("\"new_answer\" or \"vote\""));
  CHECK_THAT(fault("[]"), Contains("got other text"));
  CHECK_THAT(fault(std::string(100'000, '[')), Contains("got other text"));
}
