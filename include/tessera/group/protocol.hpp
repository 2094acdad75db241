// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/group/events.hpp>
#include <tessera/group/novelty.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tessera {

struct group_options {
  std::size_t max_new_answers = 3;  ///< of one agent
  std::size_t attempts = 3;         ///< at one action
  group_time time_limit{120'000};   ///< from the question to the end
  novelty new_answers = {};
};

/// How several agents come to one answer: what happened goes in, what is to be done comes out.
///
///     auto group = group_protocol({"ada", "bob"}, {});
///     auto todo = group.handle({.kind = group_event_kind::begin});  // start ada, start bob
///
/// Every agent that is alive is in a round or has voted. A round ends with one action: a new answer
/// or a vote. A new answer makes all votes void, since a vote counts only as long as the number of
/// answers is the one that it was cast under; who runs gets the answer injected, who rests begins a
/// round. A vote of an agent that has not `seen` all answers does not count, and begins its round
/// anew. When all who are alive have voted, the agent with most votes presents; among equals the
/// one that was registered first. Without votes it is the one that answered first.
///
/// What is no event of a round that runs is `late` and changes nothing. At the time limit the best
/// answer so far stands as it was given, and who is in a round has the status `timeout`; it stands
/// so, too, where the presenter fails.
///
/// Cost    an answer is compared with all answers before it
/// Errors  std::invalid_argument without agents, for two of one id, for options of 0;
///         std::out_of_range for an agent that is not there: tests/group/protocol.cpp
class group_protocol {
 public:
  group_protocol(std::vector<std::string> const& ids, group_options options)
      : options_(std::move(options)) {
    if (ids.empty()) throw std::invalid_argument("group: expected at least one agent, got none");
    if (options_.max_new_answers == 0 || options_.attempts == 0 || options_.time_limit.count() <= 0)
      throw std::invalid_argument(
          "group: expected at least 1 new answer, 1 attempt and 1 ms, got less");
    auto sorted = ids;
    std::ranges::sort(sorted);
    if (auto const twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
      throw std::invalid_argument("group: expected ids that differ, got two of " + *twice);
    for (auto const& id : ids) {
      auto const place = std::ranges::lower_bound(sorted, id) - sorted.begin() + 1;
      members_.push_back({.id = id, .label = "agent" + std::to_string(place)});
    }
  }

  /// Takes what happened, and says what is to be done, in this order.
  [[nodiscard]] auto handle(group_event const& event) -> group_reaction {
    if (event.agent >= members_.size())
      throw std::out_of_range("group: expected one of " + std::to_string(members_.size()) +
                              " agents, got number " + std::to_string(event.agent));
    commands_.clear();
    now_ = std::max(now_, event.time);
    auto const verdict = take(event);
    return {verdict, std::exchange(commands_, {})};
  }

  [[nodiscard]] auto options() const -> group_options const& { return options_; }
  [[nodiscard]] auto phase() const -> group_phase { return phase_; }
  [[nodiscard]] auto ended() const -> bool { return phase_ == group_phase::ended; }
  /// How it ended; not before.
  [[nodiscard]] auto outcome() const -> group_outcome const& { return outcome_; }
  [[nodiscard]] auto size() const -> std::size_t { return members_.size(); }
  [[nodiscard]] auto id(std::size_t agent) const -> std::string const& {
    return members_.at(agent).id;
  }
  [[nodiscard]] auto label(std::size_t agent) const -> std::string const& {
    return members_.at(agent).label;
  }
  [[nodiscard]] auto status(std::size_t agent) const -> agent_status {
    return members_.at(agent).status;
  }
  [[nodiscard]] auto alive(std::size_t agent) const -> bool { return members_.at(agent).alive; }
  [[nodiscard]] auto running(std::size_t agent) const -> bool { return members_.at(agent).running; }
  [[nodiscard]] auto round(std::size_t agent) const -> std::size_t {
    return members_.at(agent).round;
  }
  /// The number of answers that were given.
  [[nodiscard]] auto version() const -> std::size_t { return answers_.size(); }
  /// The last answer of an agent, or nothing.
  [[nodiscard]] auto answer_of(std::size_t agent) const -> std::optional<std::string_view> {
    auto const& mine = members_.at(agent).answers;
    if (mine.empty()) return std::nullopt;
    return answers_[mine.back()].content;
  }
  /// Whom an agent's vote counts for, or nothing.
  [[nodiscard]] auto vote_of(std::size_t agent) const -> std::optional<std::size_t> {
    auto const* vote = counted_vote(members_.at(agent));
    return vote == nullptr ? std::nullopt : std::optional{vote->target};
  }
  /// The votes that count, for each agent.
  [[nodiscard]] auto tally() const -> std::vector<std::size_t> {
    auto votes = std::vector<std::size_t>(members_.size());
    for (auto const& one : members_)
      if (auto const* vote = counted_vote(one)) ++votes[vote->target];
    return votes;
  }

 private:
  struct cast_vote {
    std::size_t target;
    std::string reason;
    std::size_t version;  ///< of the answers that it was cast under
  };
  struct member {
    std::string id;
    std::string label;
    agent_status status = agent_status::waiting;
    bool alive = true;
    bool running = false;
    std::size_t round = 0;
    std::size_t attempt = 0;                ///< of this round
    std::size_t seen = 0;                   ///< the version it is known to have got
    std::vector<std::size_t> answers = {};  ///< their numbers
    std::optional<cast_vote> vote = {};
  };
  struct given_answer {
    std::size_t author;
    std::string content;
  };

  // -- events ------------------------------------------------------------------------------------

  auto take(group_event const& event) -> group_verdict {
    if (phase_ == group_phase::idle) return begin(event);
    if (ended()) return group_verdict::late;
    if (now_ - begun_ >= options_.time_limit) {
      finish(group_cause::time_limit);
      return event.kind == group_event_kind::tick ? group_verdict::taken : group_verdict::late;
    }
    if (event.kind == group_event_kind::tick) return group_verdict::taken;
    auto& from = members_[event.agent];
    if (event.kind == group_event_kind::begin || not from.running || from.round != event.round)
      return group_verdict::late;
    return hear(from, event);
  }
  auto begin(group_event const& event) -> group_verdict {
    if (event.kind != group_event_kind::begin) return group_verdict::late;
    begun_ = now_;
    phase_ = group_phase::answering;
    for (auto& one : members_) start(one);
    return group_verdict::taken;
  }
  auto hear(member& from, group_event const& event) -> group_verdict {
    using enum group_event_kind;
    switch (event.kind) {
      case text:
        return hear_text(from);
      case seen:
        return hear_seen(from, event.view);
      case failure:
        return lose(from, agent_status::error);
      case timeout:
        return cancel(from), lose(from, agent_status::timeout);
      case presentation:
        return hear_presentation(from, event.text);
      case answer:
      case vote:
      case malformed:
        return hear_action(from, event);
      default:
        return group_verdict::late;
    }
  }
  auto hear_text(member& from) -> group_verdict {
    if (not marked_for_restart(from)) from.status = agent_status::streaming;
    return group_verdict::taken;
  }
  auto hear_seen(member& from, std::size_t view) -> group_verdict {
    from.seen = std::max(from.seen, std::min(view, answers_.size()));
    if (not marked_for_restart(from) && from.status != agent_status::streaming)
      from.status = agent_status::waiting;
    return group_verdict::taken;
  }
  auto hear_presentation(member& from, std::string const& text) -> group_verdict {
    if (phase_ != group_phase::presenting) return ask_again(from, "nobody was asked to present");
    auto const shown = trimmed(text);
    from.running = false;
    if (not shown.empty()) {
      outcome_.answer = shown;
      outcome_.presented = true;
    }
    finish(group_cause::votes);
    return shown.empty() ? group_verdict::refused : group_verdict::taken;
  }
  auto hear_action(member& from, group_event const& event) -> group_verdict {
    if (phase_ == group_phase::presenting) {  // the answer that was given stands
      from.running = false;
      finish(group_cause::votes);
      return group_verdict::refused;
    }
    if (event.kind == group_event_kind::malformed)
      return ask_again(from,
                       event.text.empty() ? "expected one new answer or one vote" : event.text);
    if (event.kind == group_event_kind::answer) return hear_answer(from, event.text);
    return hear_vote(from, event);
  }
  auto hear_answer(member& from, std::string const& text) -> group_verdict {
    if (auto const wrong = fault_of_answer(from, text); not wrong.empty())
      return ask_again(from, wrong);
    from.answers.push_back(answers_.size());
    answers_.push_back({index_of(from), std::string{trimmed(text)}});
    rest(from, agent_status::answered);
    if (not settled()) tell_of_answer(from);
    return group_verdict::taken;
  }
  auto hear_vote(member& from, group_event const& event) -> group_verdict {
    if (marked_for_restart(from)) {
      rest(from, agent_status::restarting);
      start(from);
      return group_verdict::stale;
    }
    auto const target = voted_for(event.target);
    if (not target) return ask_again(from, fault_of_vote(event.target));
    from.vote = cast_vote{*target, event.text, answers_.size()};
    rest(from, agent_status::voted);
    (void)settled();
    return group_verdict::taken;
  }
  /// What was wrong is told, as often as there are attempts.
  auto ask_again(member& from, std::string const& wrong) -> group_verdict {
    if (++from.attempt < options_.attempts)
      command(group_command_kind::retry, from, wrong);
    else
      (void)lose(from, agent_status::error);
    return group_verdict::refused;
  }
  auto lose(member& from, agent_status why) -> group_verdict {
    from.alive = false;
    rest(from, why);
    if (phase_ == group_phase::presenting)
      finish(group_cause::votes);
    else
      (void)settled();
    return group_verdict::taken;
  }

  // -- rules -------------------------------------------------------------------------------------

  [[nodiscard]] auto index_of(member const& one) const -> std::size_t {
    return static_cast<std::size_t>(&one - members_.data());
  }
  [[nodiscard]] auto marked_for_restart(member const& one) const -> bool {
    return one.seen != answers_.size();
  }
  [[nodiscard]] auto counted_vote(member const& one) const -> cast_vote const* {
    return one.vote && one.vote->version == answers_.size() ? &*one.vote : nullptr;
  }
  [[nodiscard]] auto voted_for(std::string_view target) const -> std::optional<std::size_t> {
    auto const found = std::ranges::find(members_, trimmed(target), &member::label);
    if (found == members_.end() || found->answers.empty()) return std::nullopt;
    return index_of(*found);
  }
  [[nodiscard]] auto fault_of_vote(std::string const& target) const -> std::string {
    if (answers_.empty()) return "there are no answers to vote for yet: give a new answer";
    auto known = std::string{};
    for (auto const& one : current_answers()) known += (known.empty() ? "" : ", ") + one.agent;
    return "expected a vote for one of " + known + ", got " + target;
  }
  /// Why a text is no new answer; nothing where it is one.
  [[nodiscard]] auto fault_of_answer(member const& from, std::string_view text) const
      -> std::string {
    auto const content = trimmed(text);
    if (from.answers.size() >= options_.max_new_answers)
      return "expected a vote, got a new answer: " + std::to_string(options_.max_new_answers) +
             " were given, which are all that may be";
    if (content.empty()) return "expected a new answer, got no text";
    for (auto const& one : answers_)
      if (one.content == content)
        return "expected a new answer, got an exact copy of one of " + members_[one.author].label;
    for (auto const& one : answers_)
      if (options_.new_answers.similarity(content, one.content) > options_.new_answers.most_similar)
        return "expected a new answer, got too little that one of " + members_[one.author].label +
               " does not say: vote for it, or say something else";
    return {};
  }
  /// Whether it is over, or on to the presentation.
  auto settled() -> bool {
    auto const alive = std::ranges::count(members_, true, &member::alive);
    auto const open = [&](member const& one) { return one.alive && counted_vote(one) == nullptr; };
    if (alive == 0)
      finish(group_cause::nobody_left);
    else if (alive == 1 && alone())
      finish(group_cause::alone);
    else if (std::ranges::none_of(members_, open))
      decide();
    else
      return false;
    return true;
  }
  /// There are answers, and they are all of agents that are alive: with one of those, its own.
  [[nodiscard]] auto alone() const -> bool {
    return not answers_.empty() && std::ranges::all_of(answers_, [&](auto const& one) {
      return members_[one.author].alive;
    });
  }
  /// Most votes; the first registered among equals; without votes who answered first.
  [[nodiscard]] auto best() const -> std::optional<std::size_t> {
    if (answers_.empty()) return std::nullopt;
    auto const votes = tally();
    auto const most = std::ranges::max_element(votes);
    if (*most == 0) return answers_.front().author;
    return static_cast<std::size_t>(most - votes.begin());
  }
  /// The best answer so far, as it was given.
  void choose() {
    outcome_.winner = best();
    if (outcome_.winner)
      outcome_.answer = answers_[members_[*outcome_.winner].answers.back()].content;
  }
  void decide() {
    choose();
    auto& winner = members_[outcome_.winner.value_or(0)];  // there are votes: there is one
    if (not winner.alive) {
      finish(group_cause::votes);
      return;
    }
    phase_ = group_phase::presenting;
    start(winner);
  }
  void finish(group_cause cause) {
    if (phase_ != group_phase::presenting) choose();
    outcome_.cause = cause;
    phase_ = group_phase::ended;
    for (auto& one : members_) {
      auto const is_cut = one.running && cause == group_cause::time_limit;
      if (one.running) cancel(one);
      one.running = false;
      if (one.alive) one.status = is_cut ? agent_status::timeout : agent_status::completed;
    }
    commands_.push_back({.kind = group_command_kind::end});
  }

  // -- commands ----------------------------------------------------------------------------------

  static void rest(member& one, agent_status status) {
    one.running = false;
    one.status = status;
  }
  void command(group_command_kind kind, member const& to, std::string const& text = {}) {
    commands_.push_back({kind, index_of(to), to.round, view_for(to), text});
  }
  void cancel(member const& one) {
    commands_.push_back(
        {.kind = group_command_kind::cancel, .agent = index_of(one), .round = one.round});
  }
  void start(member& one) {
    one.running = true;
    one.round += 1;
    one.attempt = 0;
    auto const presents = phase_ == group_phase::presenting;
    if (presents) one.status = agent_status::waiting;
    command(presents ? group_command_kind::present : group_command_kind::start, one);
  }
  void tell_of_answer(member const& author) {
    for (auto& one : members_) {
      if (not one.alive) continue;
      if (&one != &author) one.status = agent_status::restarting;
      if (one.running)
        command(group_command_kind::inject, one);
      else
        start(one);
    }
  }
  [[nodiscard]] auto view_for(member const& one) const -> group_view {
    auto view = group_view{.version = answers_.size(),
                           .answers = current_answers(),
                           .may_answer = one.answers.size() < options_.max_new_answers,
                           .may_vote = not answers_.empty()};
    if (phase_ != group_phase::presenting) return view;
    for (auto const* voter : by_label())
      if (auto const* vote = counted_vote(*voter))
        view.votes.push_back({voter->label, members_[vote->target].label, vote->reason});
    return view;
  }
  /// The last answer of every agent, by label.
  [[nodiscard]] auto current_answers() const -> std::vector<visible_answer> {
    auto result = std::vector<visible_answer>{};
    for (auto const* one : by_label())
      if (not one->answers.empty())
        result.push_back({one->label, answers_[one->answers.back()].content, one->answers.back()});
    return result;
  }
  [[nodiscard]] auto by_label() const -> std::vector<member const*> {
    auto result = std::vector<member const*>{};
    for (auto const& one : members_) result.push_back(&one);
    std::ranges::sort(result, {}, &member::id);
    return result;
  }

  group_options options_;
  std::vector<member> members_;
  std::vector<given_answer> answers_;
  std::vector<group_command> commands_;
  group_phase phase_ = group_phase::idle;
  group_time begun_{};
  group_time now_{};
  group_outcome outcome_;
};

}  // namespace tessera
