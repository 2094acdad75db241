// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/group/agent.hpp>
#include <tessera/group/protocol.hpp>

#include <map>

/// Lets agents come to one answer: what the protocol says is done, and what the agents do is told
/// to it.
namespace tessera {

struct conductor_options {
  std::chrono::milliseconds round_timeout{60'000};  ///< an agent that takes longer is lost
  std::chrono::milliseconds tick{200};              ///< between two looks at the clock
  std::size_t most_text = std::size_t{1} << 20U;    ///< bytes of a round; who writes more is lost
  /// Called after every event with what became of it, on the thread of `conduct`.
  std::function<void(group_event const&, group_verdict, group_protocol const&)> observe = {};
  /// Called at least where nothing has happened for a tick, on the same thread.
  std::function<void(group_protocol const&)> look = {};
  /// Asked at every look at the clock: true ends it without an outcome.
  std::function<bool()> interrupted = {};
};

namespace detail {

/// Events of all agents in the order in which they came, until nobody listens any more.
class event_queue {
 public:
  /// `woken` is called, and must not wait, when there is an event where there was none.
  explicit event_queue(std::function<void()> woken = {}) : woken_(std::move(woken)) {}

  auto push(group_event event) -> bool {
    auto const lock = std::lock_guard{mutex_};
    if (closed_) return false;
    auto const first = waiting_.empty();
    if (not joined(event)) waiting_.push_back(std::move(event));
    changed_.notify_one();
    if (first && woken_) woken_();
    return true;
  }
  [[nodiscard]] auto pop(std::chrono::milliseconds most) -> std::optional<group_event> {
    auto lock = std::unique_lock{mutex_};
    if (not changed_.wait_for(lock, most, [&] { return not waiting_.empty(); }))
      return std::nullopt;
    auto event = std::move(waiting_.front());
    waiting_.pop_front();
    return event;
  }
  void close() {
    auto const lock = std::lock_guard{mutex_};
    closed_ = true;
    waiting_.clear();
  }

 private:
  /// Pieces of text that follow each other are one, where nobody has read them yet.
  auto joined(group_event const& event) -> bool {
    if (waiting_.empty() || event.kind != group_event_kind::text) return false;
    auto& last = waiting_.back();
    auto const same =
        last.kind == event.kind && last.agent == event.agent && last.round == event.round;
    if (same) last.text += event.text;
    return same;
  }

  std::function<void()> woken_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<group_event> waiting_;
  bool closed_ = false;
};

/// One attempt at a round. It takes one end, and texts up to it.
class round_sink : public agent_sink {
 public:
  round_sink(std::shared_ptr<event_queue> queue, std::size_t agent, std::size_t round,
             std::size_t most_text)
      : queue_(std::move(queue)), agent_(agent), round_(round), left_(most_text) {}

  auto text(std::string piece) -> bool override {
    auto const lock = std::lock_guard{mutex_};
    if (ended_) return false;
    if (piece.size() > left_) {
      end({.kind = group_event_kind::failure, .text = "the agent wrote too much"});
      return false;
    }
    left_ -= piece.size();
    return say({.kind = group_event_kind::text, .text = std::move(piece)});
  }
  void seen(std::size_t version) override {
    auto const lock = std::lock_guard{mutex_};
    if (not ended_) (void)say({.kind = group_event_kind::seen, .view = version});
  }
  void finish(agent_action action) override {
    auto const lock = std::lock_guard{mutex_};
    if (action.text.size() > most_action)
      end({.kind = group_event_kind::failure, .text = "the agent wrote too much"});
    else
      end({.kind = action.kind,
           .target = std::move(action.target),
           .text = std::move(action.text)});
  }
  void fail(std::string why) override {
    auto const lock = std::lock_guard{mutex_};
    end({.kind = group_event_kind::failure, .text = std::move(why)});
  }
  /// False where it had ended before.
  auto close() -> bool {
    auto const lock = std::lock_guard{mutex_};
    return not std::exchange(ended_, true);
  }

 private:
  auto say(group_event event) -> bool {
    event.agent = agent_;
    event.round = round_;
    return queue_->push(std::move(event));
  }
  void end(group_event event) {
    if (not std::exchange(ended_, true)) (void)say(std::move(event));
  }

  static constexpr auto most_action = std::size_t{1} << 20U;

  std::shared_ptr<event_queue> queue_;
  std::mutex mutex_;
  std::size_t agent_;
  std::size_t round_;
  std::size_t left_;
  bool ended_ = false;
};

/// A group_protocol's own, or a group_recorder's.
template <class Group> [[nodiscard]] auto protocol_of(Group const& group) -> group_protocol const& {
  if constexpr (requires { group.group(); })
    return group.group();
  else
    return group;
}

/// Milliseconds since it was made.
[[nodiscard]] inline auto wall_clock() -> std::function<group_time()> {
  using clock = std::chrono::steady_clock;
  return [begun = clock::now()] {
    return std::chrono::duration_cast<group_time>(clock::now() - begun);
  };
}

template <class Group> class conductor {
 public:
  conductor(Group& group, group_task const& task, std::vector<std::shared_ptr<group_agent>> agents,
            conductor_options const& options, std::function<group_time()> now = wall_clock(),
            std::function<void()> woken = {})
      : group_(group),
        task_(task),
        options_(options),
        now_(std::move(now)),
        queue_(std::make_shared<event_queue>(std::move(woken))),
        rounds_(agents.size()) {
    for (auto i = std::size_t{0}; i < agents.size(); ++i) rounds_[i].agent = std::move(agents[i]);
  }
  conductor(conductor const&) = delete;
  auto operator=(conductor const&) -> conductor& = delete;
  ~conductor() { stop_all(); }

  [[nodiscard]] auto run() -> bool {
    begin_group();
    while (not protocol().ended()) {
      if (options_.interrupted && options_.interrupted()) return false;
      if (auto event = queue_->pop(options_.tick)) {
        happens(std::move(*event), now_());
      } else {
        happens({}, now_());
        if (options_.look) options_.look(protocol());
      }
      look_for_timeouts();
    }
    return true;
  }
  void begin_group() { happens({.kind = group_event_kind::begin}, now_()); }
  /// All events that are there, and those that they lead to at once.
  void hear_all() {
    while (not protocol().ended()) {
      auto event = queue_->pop(std::chrono::milliseconds{0});
      if (not event) break;
      happens(std::move(*event), now_());
      look_for_timeouts();
    }
  }
  void tick(group_time time) { happens({}, time); }
  /// Nobody listens any more.
  void stop_all() {
    queue_->close();
    for (auto& one : rounds_) stop(one);
  }
  [[nodiscard]] auto protocol() const -> group_protocol const& { return protocol_of(group_); }

 private:
  struct one_round {
    std::shared_ptr<group_agent> agent;
    std::shared_ptr<round_sink> sink = {};
    std::size_t number = 0;
    group_time until = {};
  };

  void happens(group_event event, group_time time) {
    event.time = time;
    auto const reaction = group_.handle(event);
    // A late one is of an attempt that another has taken the place of.
    if (event.kind == group_event_kind::failure && reaction.verdict != group_verdict::late)
      rounds_[event.agent].agent->cancel();
    for (auto const& command : reaction.commands) obey(command);
    if (options_.observe) options_.observe(event, reaction.verdict, protocol());
  }
  void obey(group_command const& command) {
    using enum group_command_kind;
    if (command.kind == end) return;
    auto& round = rounds_[command.agent];
    if (command.kind == cancel) {
      stop(round);
      return;
    }
    if (command.kind == inject && injected(round, command)) return;
    if (command.kind != inject && command.kind != retry)
      round.until = now_() + options_.round_timeout;
    begin(round, command);
  }
  static auto injected(one_round& round, group_command const& command) -> bool try {
    return round.agent->inject(command.view);
  } catch (std::exception const& e) {
    round.sink->fail(e.what());
    return true;
  }
  void begin(one_round& round, group_command const& command) {
    stop(round);
    round.number = command.round;
    round.sink =
        std::make_shared<round_sink>(queue_, command.agent, command.round, options_.most_text);
    auto request =
        agent_request{.kind = command.kind == group_command_kind::inject ? group_command_kind::start
                                                                         : command.kind,
                      .agent = command.agent,
                      .label = protocol().label(command.agent),
                      .task = task_,
                      .view = command.view,
                      .wrong = command.text};
    try {
      round.agent->start(std::move(request), round.sink);
    } catch (std::exception const& e) {
      round.sink->fail(e.what());
    }
  }
  /// What the agent says of its last round from now on is not heard.
  static void stop(one_round& round) {
    if (not round.sink) return;
    if (round.sink->close()) round.agent->cancel();
    round.sink.reset();
  }
  void look_for_timeouts() {
    for (auto i = std::size_t{0}; i < rounds_.size(); ++i)
      if (protocol().running(i) && now_() >= rounds_[i].until)
        happens({.kind = group_event_kind::timeout, .agent = i, .round = rounds_[i].number},
                now_());
  }

  Group& group_;
  group_task const& task_;
  conductor_options const& options_;
  std::function<group_time()> now_;
  std::shared_ptr<event_queue> queue_;
  std::vector<one_round> rounds_;
};

}  // namespace detail

/// Asks a question of agents, which belong to those of `group` in their order, and returns when the
/// group has ended: its outcome is `group`'s. False where it was interrupted.
///
/// `group` is a `group_protocol` at its beginning, or a `group_recorder`.
///
/// Errors  an agent that throws, takes too long or writes too much is lost, the others go on:
///         tests/group/conductor.cpp; std::invalid_argument for another number of agents
template <class Group>
[[nodiscard]] auto conduct(Group& group, group_task const& task,
                           std::vector<std::shared_ptr<group_agent>> agents,
                           conductor_options const& options = {}) -> bool {
  auto const expected = detail::protocol_of(group).size();
  if (agents.size() != expected)
    throw std::invalid_argument("conduct: expected " + std::to_string(expected) + " agents, got " +
                                std::to_string(agents.size()));
  return detail::conductor<Group>(group, task, std::move(agents), options).run();
}

}  // namespace tessera
