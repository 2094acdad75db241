// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/group/events.hpp>

/// What agents are told, as the messages of a chat.
namespace tessera {

struct group_message {
  std::string role;  ///< "system", "user" or "assistant"
  std::string content;

  auto operator==(group_message const&) const -> bool = default;
};

/// A question that was answered before.
struct group_turn {
  std::string question;
  std::string answer;

  auto operator==(group_turn const&) const -> bool = default;
};

/// What a group is asked.
struct group_task {
  std::string question;
  std::vector<group_turn> earlier = {};  ///< turns of the session, which go on
};

namespace detail {

constexpr auto answering_rules =
    "You are one of several agents who are asked the same question and come to one answer "
    "together. "
    "You do not know who gave which answer. Read the CURRENT ANSWERS, then do one thing: give a "
    "new "
    "answer, where you can say something better or something that is missing, or vote for the "
    "answer "
    "that is right and complete.";
constexpr auto presenting_rules =
    "You are one of several agents who were asked the same question, and your answer got their "
    "votes. "
    "Give the final answer to the question: begin from your own, take from the others what is "
    "right, "
    "and do not speak of agents, answers or votes.";

constexpr auto brief_rule = "Answer the question briefly and exactly.";

[[nodiscard]] inline auto answers_text(std::vector<visible_answer> const& answers) -> std::string {
  auto text = std::string{};
  for (auto const& one : answers)
    text += "\n<" + one.agent + ">\n" + one.content + "\n</" + one.agent + ">";
  return text;
}
[[nodiscard]] inline auto votes_text(std::vector<visible_vote> const& votes) -> std::string {
  auto text = std::string{};
  for (auto const& one : votes)
    text += "\n" + one.agent + " votes for " + one.target + ": " + one.reason;
  return text;
}
[[nodiscard]] inline auto labels_of(group_view const& view) -> std::string {
  auto text = std::string{};
  for (auto const& one : view.answers) text += (text.empty() ? "" : ", ") + one.agent;
  return text;
}
[[nodiscard]] constexpr auto character_or_helper(std::string_view character) -> std::string_view {
  return character.empty() ? "You are a helpful assistant." : character;
}
/// The rules and an agent's own character, the turns before, and what is asked now.
[[nodiscard]] inline auto conversation(std::string_view rules, std::string_view character,
                                       group_task const& task, std::string question)
    -> std::vector<group_message> {
  auto system = std::string{character};
  system += (character.empty() ? "" : "\n\n") + std::string{rules};
  auto result = std::vector<group_message>{{"system", std::move(system)}};
  for (auto const& turn : task.earlier) {
    result.push_back({"user", turn.question});
    result.push_back({"assistant", turn.answer});
  }
  result.push_back({"user", std::move(question)});
  return result;
}

}  // namespace detail

/// What an agent may do with this view, as a sentence.
[[nodiscard]] inline auto allowed_actions(group_view const& view) -> std::string {
  auto const vote = "vote for one of " + detail::labels_of(view);
  if (not view.may_vote) return "You may give a new answer; there are none to vote for yet.";
  if (not view.may_answer) return "You may " + vote + "; you have given all answers that you may.";
  return "You may give a new answer, or " + vote + ".";
}
/// The same as JSON, for agents that are told how their action has to look.
[[nodiscard]] inline auto action_format(group_view const& view) -> std::string {
  auto text = std::string{"Reply with one JSON object and nothing else:"};
  if (view.may_answer) text += "\n{\"action\": \"new_answer\", \"content\": \"<your answer>\"}";
  if (view.may_answer && view.may_vote) text += "\nor";
  if (view.may_vote)
    text += "\n{\"action\": \"vote\", \"agent\": \"" + view.answers.front().agent +
            R"(", "reason": "<why>"})";
  return text;
}

/// What begins a round.
[[nodiscard]] inline auto answering_prompt(group_task const& task, group_view const& view,
                                           std::string_view character = {})
    -> std::vector<group_message> {
  auto text = "<QUESTION>\n" + task.question + "\n</QUESTION>\n\nCURRENT ANSWERS:";
  text += view.answers.empty() ? " none yet" : detail::answers_text(view.answers);
  text += "\n\n" + allowed_actions(view);
  return detail::conversation(detail::answering_rules, character, task, std::move(text));
}
/// What an agent that is in a round is told of the answers that are new to it.
[[nodiscard]] inline auto injected_text(group_view const& view, std::size_t known_version)
    -> std::string {
  return "While you were at it, NEW ANSWERS came:" +
         detail::answers_text(view.since(known_version)) + "\n\nTake them into account. " +
         allowed_actions(view);
}
/// What an agent is told whose action was wrong.
[[nodiscard]] inline auto correction_text(group_view const& view, std::string_view wrong)
    -> std::string {
  return "That did not count: " + std::string{wrong} + ".\n" + allowed_actions(view);
}
/// What begins a round of an agent that is asked for one thing after another, and can do nothing
/// else: the answers, then the question. Models of some hundred million parameters answer what
/// stands last, and lose it behind rules.
[[nodiscard]] inline auto brief_prompt(group_task const& task, group_view const& view,
                                       std::string_view character = {})
    -> std::vector<group_message> {
  auto text = std::string{"CURRENT ANSWERS:"};
  text += view.answers.empty() ? " none yet" : detail::answers_text(view.answers);
  return detail::conversation(detail::brief_rule, detail::character_or_helper(character), task,
                              text + "\n\nQUESTION: " + task.question);
}
/// What such an agent presents from: the question and its answer, then all answers and the votes,
/// and the question again.
[[nodiscard]] inline auto brief_presenting_prompt(group_task const& task, group_view const& view,
                                                  std::string_view own_label,
                                                  std::string_view character = {})
    -> std::vector<group_message> {
  auto result = detail::conversation(detail::brief_rule, detail::character_or_helper(character),
                                     task, "QUESTION: " + task.question);
  result.push_back({"assistant", std::string{view.answer_of(own_label)}});
  result.push_back(
      {"user", "ANSWERS:" + detail::answers_text(view.answers) +
                   "\n\nVOTES:" + detail::votes_text(view.votes) + "\n\nYour answer is that of " +
                   std::string{own_label} +
                   ", which has won. Give the final answer.\n\nQUESTION: " + task.question});
  return result;
}
/// What the winner presents from.
[[nodiscard]] inline auto presenting_prompt(group_task const& task, group_view const& view,
                                            std::string_view own_label,
                                            std::string_view character = {})
    -> std::vector<group_message> {
  auto text = "<QUESTION>\n" + task.question +
              "\n</QUESTION>\n\nANSWERS, of which yours is that of " + std::string{own_label} +
              ":" + detail::answers_text(view.answers) +
              "\n\nVOTES:" + detail::votes_text(view.votes) + "\n\nGive the final answer.";
  return detail::conversation(detail::presenting_rules, character, task, std::move(text));
}

}  // namespace tessera
