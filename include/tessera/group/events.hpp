// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What happens to a group of agents, what is to be done then, and how it ended: plain data,
/// without a model, a thread or a clock.
namespace tessera {

using group_time = std::chrono::milliseconds;  ///< since a moment of the user's choice

enum class group_event_kind : std::uint8_t {
  begin,         ///< the question is asked
  text,          ///< an agent has written a piece of `text`
  seen,          ///< an agent has got the answers up to `view`: its restart is done
  answer,        ///< an agent's round ends with a new answer, `text`
  vote,          ///< or with a vote for `target`, because of `text`
  malformed,     ///< or with what is no action; `text` says what was wrong
  failure,       ///< an agent is lost, because of `text`
  timeout,       ///< an agent has taken too long, and is lost
  presentation,  ///< the winner has presented `text`
  tick,          ///< time has gone by
};

struct group_event {
  group_event_kind kind = group_event_kind::tick;
  group_time time{};
  std::size_t agent = 0;  ///< by order of registration
  std::size_t round = 0;  ///< of the command that it answers
  std::size_t view = 0;
  std::string target = {};  ///< as the agent was shown it: "agent2"
  std::string text = {};

  auto operator==(group_event const&) const -> bool = default;
};

/// What became of an event.
enum class group_verdict : std::uint8_t {
  taken,
  refused,  ///< the action breaks a rule: the agent is asked again, or is lost
  stale,    ///< a vote that was cast before its agent had all answers: it does not count
  late,     ///< nobody waits for it: the round or the group has ended
};

struct visible_answer {
  std::string agent;  ///< "agent1", ...: the place of its id among the sorted ids
  std::string content;
  std::size_t number = 0;  ///< of those that were given before it

  auto operator==(visible_answer const&) const -> bool = default;
};
struct visible_vote {
  std::string agent;
  std::string target;
  std::string reason;

  auto operator==(visible_vote const&) const -> bool = default;
};
/// What an agent is shown.
struct group_view {
  std::size_t version = 0;                   ///< answers that have been given
  std::vector<visible_answer> answers = {};  ///< the last one of each agent that has one
  std::vector<visible_vote> votes = {};      ///< for the presenter
  bool may_answer = true;
  bool may_vote = false;

  /// The answer of the agent that has this label; empty where it has none.
  [[nodiscard]] auto answer_of(std::string_view label) const -> std::string_view {
    for (auto const& one : answers)
      if (one.agent == label) return one.content;
    return {};
  }
  /// The answers that are not in the view of another version.
  [[nodiscard]] auto since(std::size_t other) const -> std::vector<visible_answer> {
    auto result = std::vector<visible_answer>{};
    for (auto const& one : answers)
      if (one.number >= other) result.push_back(one);
    return result;
  }
  auto operator==(group_view const&) const -> bool = default;
};

enum class group_command_kind : std::uint8_t {
  start,    ///< a round begins with `view`
  inject,   ///< a round goes on with `view`, in which answers are new
  retry,    ///< a round begins again with `view`; `text` says what was wrong
  present,  ///< a round begins, of which the text is the group's answer
  cancel,   ///< the agent's round is over
  end,      ///< the group has ended
};

struct group_command {
  group_command_kind kind = group_command_kind::end;
  std::size_t agent = 0;
  std::size_t round = 0;
  group_view view = {};
  std::string text = {};

  auto operator==(group_command const&) const -> bool = default;
};

struct group_reaction {
  group_verdict verdict = group_verdict::taken;
  std::vector<group_command> commands;
};

enum class agent_status : std::uint8_t {
  waiting,
  streaming,
  answered,
  voted,
  restarting,
  error,
  timeout,
  completed,
};

enum class group_phase : std::uint8_t { idle, answering, presenting, ended };

enum class group_cause : std::uint8_t {
  votes,        ///< every agent that is alive has voted
  alone,        ///< the only agent has answered
  time_limit,   ///< the best answer so far, where there is one
  nobody_left,  ///< the same
};

struct group_outcome {
  group_cause cause = group_cause::votes;
  std::optional<std::size_t> winner = {};  ///< nobody where no agent has answered
  std::string answer = {};                 ///< as presented, else as given
  bool presented = false;

  auto operator==(group_outcome const&) const -> bool = default;
};

namespace detail {

/// The words of enumerations, in their order.
constexpr auto names_of(group_event_kind) {
  return std::to_array<std::string_view>({"begin", "text", "seen", "answer", "vote", "malformed",
                                          "failure", "timeout", "presentation", "tick"});
}
constexpr auto names_of(group_verdict) {
  return std::to_array<std::string_view>({"taken", "refused", "stale", "late"});
}
constexpr auto names_of(agent_status) {
  return std::to_array<std::string_view>(
      {"waiting", "streaming", "answered", "voted", "restarting", "error", "timeout", "completed"});
}
constexpr auto names_of(group_phase) {
  return std::to_array<std::string_view>({"idle", "answering", "presenting", "ended"});
}
constexpr auto names_of(group_cause) {
  return std::to_array<std::string_view>({"votes", "alone", "time_limit", "nobody_left"});
}

template <class E>
concept named_enumeration = requires(E value) { names_of(value); };

}  // namespace detail

/// The word of a value, as records and status.json have it.
template <detail::named_enumeration E>
[[nodiscard]] constexpr auto name_of(E value) -> std::string_view {
  return detail::names_of(value)[static_cast<std::size_t>(value)];
}
/// The value of a word, or nothing.
template <detail::named_enumeration E>
[[nodiscard]] constexpr auto value_of(std::string_view name) -> std::optional<E> {
  auto const names = detail::names_of(E{});
  for (auto i = std::size_t{0}; i < names.size(); ++i)
    if (names[i] == name) return static_cast<E>(i);
  return std::nullopt;
}

}  // namespace tessera
