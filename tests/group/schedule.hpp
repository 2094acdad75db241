// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/group/protocol.hpp>

#include <random>
#include <stdexcept>

namespace test {

using namespace tessera;

/// A group, what its agents are like, and how it went: all by a seed.
struct schedule {
  std::vector<std::string> ids;
  group_options options;
  std::vector<group_event> events;
  std::vector<group_reaction> reactions;
};

/// What the protocol promises, kept a second time in the plainest way: from the events that it has
/// taken alone. Throws where the two differ.
class shadow {
 public:
  shadow(group_protocol const& group, group_options const& options)
      : group_(group), options_(options), agents_(group.size()) {}

  void check(group_event const& event, group_reaction const& reaction) {
    time_ = std::max(time_, event.time);
    auto const due = was_running() && time_ >= options_.time_limit;
    auto const verdict = reaction.verdict;
    if (ended_ || not began_ || due) {
      auto const fine =
          event.kind == group_event_kind::begin || event.kind == group_event_kind::tick;
      expect(verdict == group_verdict::late || (fine && not ended_), "a late event counts");
    } else {
      check_event(event, verdict);
    }
    if (event.kind == group_event_kind::begin) began_ = true;
    for (auto const& one : reaction.commands) check_command(one);
    if (due) expect(group_.ended(), "the time limit does not end it");
    check_state(due);
  }
  /// For each agent the view that was sent to it last.
  [[nodiscard]] auto told(std::size_t agent) const -> std::size_t { return agents_[agent].told; }

 private:
  struct one_agent {
    bool alive = true;
    bool running = false;
    std::size_t round = 0;
    std::size_t told = 0;
    std::size_t seen = 0;
    std::size_t refusals = 0;
    std::vector<std::string> answers;
    std::optional<std::size_t> vote;
  };

  static void expect(bool fine, char const* what) {
    if (not fine) throw std::logic_error(what);
  }
  [[nodiscard]] auto was_running() const -> bool { return began_ && not ended_; }
  [[nodiscard]] auto target_of(std::string const& label) const -> std::optional<std::size_t> {
    for (auto i = std::size_t{0}; i < agents_.size(); ++i)
      if (group_.label(i) == label && not agents_[i].answers.empty()) return i;
    return std::nullopt;
  }
  [[nodiscard]] auto is_new(one_agent const& from, std::string const& text) const -> bool {
    if (text.empty() || from.answers.size() == options_.max_new_answers) return false;
    for (auto const& one : agents_)
      for (auto const& old : one.answers)
        if (old == text || word_overlap(old, text) > options_.new_answers.most_similar)
          return false;
    return true;
  }

  void check_event(group_event const& event, group_verdict verdict) {
    using enum group_event_kind;
    auto& from = agents_[event.agent];
    if (event.kind == tick || event.kind == begin) return;
    if (not from.running || from.round != event.round)
      return expect(verdict == group_verdict::late, "an event of another round counts");
    if (event.kind == text) return;
    if (event.kind == seen) {
      from.seen = std::max(from.seen, event.view);
      return;
    }
    if (presenting_) return check_presenter(event, verdict);
    if (event.kind == failure) return lose(from);
    if (event.kind == timeout) return void(from.alive = false);  // it is cancelled
    if (event.kind == answer) return check_answer(from, event, verdict);
    if (event.kind == vote) return check_vote(from, event, verdict);
    refuse(from, verdict);
  }
  void check_presenter(group_event const& event, group_verdict verdict) {
    auto const good = event.kind == group_event_kind::presentation && not event.text.empty();
    if (good) presented_ = event.text;
    expect(good ? verdict == group_verdict::taken : true, "a presentation is lost");
    if (event.kind == group_event_kind::failure || event.kind == group_event_kind::timeout)
      agents_[event.agent].alive = false;
    agents_[event.agent].running = event.kind == group_event_kind::timeout;
    over_ = true;
  }
  void lose(one_agent& from) { from.alive = from.running = false; }
  void check_answer(one_agent& from, group_event const& event, group_verdict verdict) {
    if (not is_new(from, event.text)) return refuse(from, verdict);
    expect(verdict == group_verdict::taken, "a new answer is not taken");
    from.answers.push_back(event.text);
    from.running = false;
    if (version_++ == 0) first_ = event.agent;
    for (auto& one : agents_) one.vote.reset();
  }
  void check_vote(one_agent& from, group_event const& event, group_verdict verdict) {
    if (from.seen != version_) {
      expect(verdict == group_verdict::stale, "a stale vote is not called so");
      from.running = false;
      return;
    }
    auto const target = target_of(event.target);
    if (not target) return refuse(from, verdict);
    expect(verdict == group_verdict::taken, "a vote is not taken");
    from.vote = target;
    from.running = false;
  }
  void refuse(one_agent& from, group_verdict verdict) {
    expect(verdict == group_verdict::refused, "a wrong action is taken");
    if (++from.refusals == options_.attempts)
      lose(from);
    else
      asked_ = true;
  }

  void check_command(group_command const& one) {
    using enum group_command_kind;
    expect(not ended_, "a command after the end");
    auto& to = agents_[one.agent];
    if (one.kind == end) return void(ended_ = true);
    if (one.kind == cancel) {
      expect(to.running && one.round == to.round, "a round is cancelled that does not run");
      return void(to.running = false);
    }
    expect(to.alive, "a command for an agent that is lost");
    if (one.kind == start || one.kind == present) {
      expect(not to.running && one.round == to.round + 1, "a round in a round");
      to.running = true;
      to.refusals = 0;
    }
    if (one.kind == present) presenting_ = true;
    expect(to.running && one.round == to.round + (one.kind == start || one.kind == present ? 1 : 0),
           "a command for a round that does not run");
    to.round = one.round;
    expect(one.view.version == version_, "an old view");
    expect(one.kind != inject || one.view.since(to.told).size() == 1, "not one new answer");
    expect(one.kind != retry || (std::exchange(asked_, false) && not one.text.empty()),
           "asked again without a reason");
    check_view(one, to);
    to.told = version_;
  }
  void check_view(group_command const& one, one_agent const& to) const {
    auto expected = std::vector<std::string>{};
    for (auto label = std::size_t{1}; label <= agents_.size(); ++label)
      if (auto const who = target_of("agent" + std::to_string(label)))
        expected.push_back(agents_[*who].answers.back());
    auto shown = std::vector<std::string>{};
    for (auto const& answer : one.view.answers) {
      auto const who = target_of(answer.agent);
      expect(who && agents_[*who].answers.back() == answer.content, "a wrong answer is shown");
      shown.push_back(answer.content);
    }
    expect(shown == expected, "not the answers that there are");
    expect(one.view.may_vote == (version_ > 0), "may_vote");
    expect(one.view.may_answer == (to.answers.size() < options_.max_new_answers), "may_answer");
    auto votes = std::size_t{0};
    for (auto const& other : agents_) votes += other.vote ? 1 : 0;
    expect(one.view.votes.size() == (presenting_ ? votes : 0), "not the votes that there are");
  }

  void check_state(bool due) {
    expect(group_.version() == version_, "another number of answers");
    auto votes = std::vector<std::size_t>(agents_.size());
    auto alive = std::size_t{0};
    auto active = std::size_t{0};
    auto voted = std::size_t{0};
    for (auto i = std::size_t{0}; i < agents_.size(); ++i) {
      auto const& one = agents_[i];
      expect(group_.alive(i) == one.alive && group_.running(i) == one.running, "alive, running");
      expect(group_.vote_of(i) == one.vote, "a vote counts that should not, or does not");
      if (one.vote) ++votes[*one.vote];
      alive += one.alive ? 1 : 0;
      active += one.running ? 1 : 0;
      voted += one.alive && one.vote ? 1 : 0;
      expect(not one.running || one.alive, "a lost agent runs");
      expect(not began_ || ended_ || presenting_ || not one.alive ||
                 one.running != one.vote.has_value(),
             "an agent neither runs nor has voted, or both");
      auto const status = group_.status(i);
      auto const is_cut = ended_ && group_.outcome().cause == group_cause::time_limit &&
                          status == agent_status::timeout;
      expect((status == agent_status::completed || (is_cut && one.alive)) == (ended_ && one.alive),
             "completed");
      expect(presenting_ || ended_ ||
                 (group_.status(i) == agent_status::voted) == one.vote.has_value(),
             "the status of a vote");
    }
    expect(group_.tally() == votes, "the tally");
    expect(group_.ended() == ended_, "ended without the command");
    if (not began_ || ended_) return ended_ ? check_outcome(due, alive, voted, votes) : void();
    expect(active > 0, "nobody runs, and it goes on");
    expect(not over_, "presented, and it goes on");
    expect(presenting_ || voted < alive, "all have voted, and it goes on");
    expect(presenting_ || not alone(alive), "a lone agent goes on");
    expect(not presenting_ || active == 1, "others run while one presents");
  }
  [[nodiscard]] auto alone(std::size_t alive) const -> bool {
    auto of_lost = std::size_t{0};
    for (auto const& one : agents_) of_lost += one.alive ? 0 : one.answers.size();
    return alive == 1 && version_ > 0 && of_lost == 0;
  }
  void check_outcome(bool due, std::size_t alive, std::size_t voted,
                     std::vector<std::size_t> const& votes) {
    if (std::exchange(outcome_checked_, true)) return;
    auto const& outcome = group_.outcome();
    auto cause = group_cause::votes;
    if (due)
      cause = group_cause::time_limit;
    else if (not presenting_ && alive == 0)
      cause = group_cause::nobody_left;
    else if (not presenting_ && alone(alive))
      cause = group_cause::alone;
    expect(outcome.cause == cause, "the cause");
    expect(cause != group_cause::votes || presenting_ || alive == voted, "some have not voted");
    expect(outcome.winner.has_value() == (version_ > 0), "no winner, or one without an answer");
    if (not outcome.winner) return expect(outcome.answer.empty(), "an answer of nobody");
    auto best = first_;
    auto most = std::size_t{0};
    for (auto i = std::size_t{0}; i < votes.size(); ++i)
      if (votes[i] > most) most = votes[best = i];
    expect(*outcome.winner == best, "another winner");
    expect(outcome.presented == presented_.has_value(), "presented");
    expect(outcome.answer == presented_.value_or(agents_[best].answers.back()), "another answer");
  }

  group_protocol const& group_;
  group_options const& options_;
  std::vector<one_agent> agents_;
  group_time time_{};
  std::size_t version_ = 0;
  std::size_t first_ = 0;
  bool began_ = false;
  bool asked_ = false;
  bool presenting_ = false;
  bool over_ = false;
  bool ended_ = false;
  bool outcome_checked_ = false;
  std::optional<std::string> presented_;
};

/// Agents that do at random what agents do: write, answer, copy, vote for anybody, break rules,
/// fail, hang, and speak when their round is over.
class random_agents {
 public:
  explicit random_agents(std::uint64_t seed) : draw_(seed) {}

  [[nodiscard]] auto run() -> schedule {
    auto result = setting();
    auto group = group_protocol(result.ids, result.options);
    auto check = shadow(group, result.options);
    auto const happens = [&](group_event event) {
      result.reactions.push_back(group.handle(event));
      check.check(event, result.reactions.back());
      result.events.push_back(std::move(event));
    };
    if (one_in(20)) happens({.agent = 0});  // before the question
    happens({.kind = group_event_kind::begin, .time = time_});
    for (auto most = 20'000; not group.ended(); --most) {
      if (most == 0) throw std::logic_error("it does not end");
      happens(next(group, check));
    }
    happens(next(group, check));
    return result;
  }

 private:
  [[nodiscard]] auto below(std::size_t n) -> std::size_t { return draw_() % n; }
  [[nodiscard]] auto one_in(std::size_t n) -> bool { return below(n) == 0; }

  [[nodiscard]] auto setting() -> schedule {
    static constexpr auto names = std::to_array({"delta", "alpha", "echo", "bravo", "charlie"});
    auto result = schedule{};
    auto const n = 1 + below(names.size());
    for (auto i = std::size_t{0}; i < n; ++i) result.ids.emplace_back(names[i]);
    result.options.max_new_answers = 1 + below(3);
    result.options.attempts = 1 + below(3);
    result.options.time_limit = group_time{100 + below(2000)};
    result.options.new_answers.most_similar =
        std::array{novelty::balanced, novelty::strict, novelty::lenient}[below(3)];
    slow_ = 1 + below(40);
    frail_ = one_in(4) ? 8 : 200;
    wrong_ = one_in(4) ? 3 : 40;
    eager_ = 1 + below(4);
    hung_.assign(n, false);
    for (auto i = std::size_t{0}; i < n; ++i) hung_[i] = one_in(25);
    return result;
  }
  /// What happens next: to an agent whose turn it is, or the time.
  [[nodiscard]] auto next(group_protocol const& group, shadow const& seen) -> group_event {
    time_ += group_time{below(slow_)};
    auto event = group_event{.time = time_, .agent = below(group.size())};
    while (not group.ended() && not group.running(event.agent) && not one_in(8))
      event.agent = below(group.size());
    event.round = group.round(event.agent);
    if (one_in(12) || (hung_[event.agent] && not one_in(40))) return event;  // a tick
    if (one_in(25)) event.round += below(3) - 1;                             // another round's
    if (one_in(frail_)) {
      event.kind = one_in(2) ? group_event_kind::failure : group_event_kind::timeout;
    } else if (one_in(wrong_)) {
      event.kind = one_in(2) ? group_event_kind::malformed : group_event_kind::presentation;
      event.text = one_in(4) ? "" : "two votes";
    } else if (group.phase() == group_phase::presenting && one_in(2)) {
      event.kind = group_event_kind::presentation;
      event.text = sentence(group);
    } else if (one_in(3)) {
      event.kind = one_in(2) ? group_event_kind::seen : group_event_kind::text;
      event.view = seen.told(event.agent) - (one_in(5) ? below(seen.told(event.agent) + 1) : 0);
    } else if (group.version() == 0 || one_in(eager_ + 1)) {
      event.kind = group_event_kind::answer;
      event.text = sentence(group);
    } else {
      event.kind = group_event_kind::vote;
      event.target = "agent" + std::to_string(1 + below(group.size() + (one_in(8) ? 2 : 0)));
      event.text = "why not";
    }
    return event;
  }
  /// A few words, at times those of another answer.
  [[nodiscard]] auto sentence(group_protocol const& group) -> std::string {
    if (one_in(8))
      if (auto const old = group.answer_of(below(group.size()))) return std::string{*old};
    auto text = std::string{};
    for (auto i = below(6); i > 0; --i) {
      if (not text.empty()) text += ' ';
      text += static_cast<char>('a' + below(20));
    }
    return text;
  }

  std::mt19937_64 draw_;
  group_time time_{};
  std::size_t slow_ = 1;
  std::size_t frail_ = 1;
  std::size_t wrong_ = 1;
  std::size_t eager_ = 1;
  std::vector<bool> hung_;
};

}  // namespace test
