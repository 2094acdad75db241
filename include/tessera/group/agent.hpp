// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/group/novelty.hpp>
#include <tessera/group/prompt.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>

/// What an agent of a group is, for those who make one.
namespace tessera {

/// How a round ends: an answer, a vote, a presentation, or what is none of them.
struct agent_action {
  group_event_kind kind = group_event_kind::malformed;
  std::string target = {};  ///< of a vote
  std::string text = {};

  auto operator==(agent_action const&) const -> bool = default;
};

/// What a round begins with, or begins again with.
struct agent_request {
  group_command_kind kind = group_command_kind::start;  ///< start, retry or present
  std::size_t agent = 0;                                ///< by order of registration
  std::string label;                                    ///< the agent's own, "agent1"
  group_task task;
  group_view view;
  std::string wrong = {};  ///< of a retry
};

/// Where an agent says what it does in one round. Any thread may call it, at any time: when the
/// round is over, nothing happens.
class agent_sink {
 public:
  agent_sink() = default;
  agent_sink(agent_sink const&) = delete;
  auto operator=(agent_sink const&) -> agent_sink& = delete;
  virtual ~agent_sink() = default;

  /// False where nobody listens any more.
  virtual auto text(std::string piece) -> bool = 0;
  /// The agent knows the answers of this version of the view.
  virtual void seen(std::size_t version) = 0;
  virtual void finish(agent_action action) = 0;
  virtual void fail(std::string why) = 0;
};

/// An agent: begins what it is asked, and says the rest to the sink. No function may wait.
class group_agent {
 public:
  group_agent() = default;
  group_agent(group_agent const&) = delete;
  auto operator=(group_agent const&) -> group_agent& = delete;
  virtual ~group_agent() = default;

  /// What it throws is the agent's failure.
  virtual void start(agent_request request, std::shared_ptr<agent_sink> sink) = 0;
  /// Answers are new while a round runs. False: the round has to begin again with them.
  virtual auto inject(group_view const& view) -> bool {
    (void)view;
    return false;
  }
  /// Nobody waits for the round any more.
  virtual void cancel() = 0;
};

/// One round, for a function that works on it: what it says goes to the sink.
class agent_round {
 public:
  explicit agent_round(agent_request asked, std::shared_ptr<agent_sink> sink)
      : request_(std::move(asked)), sink_(std::move(sink)) {}

  [[nodiscard]] auto request() const -> agent_request const& { return request_; }
  /// True where nobody waits any more: the function should return.
  [[nodiscard]] auto cancelled() const -> bool { return cancelled_; }
  /// The view that has come since the round began or since this was asked last.
  [[nodiscard]] auto new_view() -> std::optional<group_view> {
    auto const lock = std::lock_guard{mutex_};
    return std::exchange(injected_, std::nullopt);
  }
  /// Waits, but no longer than until it is cancelled or there is a new view.
  void wait_for(std::chrono::milliseconds most) {
    auto lock = std::unique_lock{mutex_};
    changed_.wait_for(lock, most, [&] { return cancelled_ || injected_; });
  }
  auto text(std::string piece) -> bool { return not cancelled_ && sink_->text(std::move(piece)); }
  void seen(std::size_t version) { sink_->seen(version); }
  void finish(agent_action action) {
    said_ = true;
    sink_->finish(std::move(action));
  }
  void fail(std::string why) {
    said_ = true;
    sink_->fail(std::move(why));
  }
  /// Whether it has come to an end.
  [[nodiscard]] auto said() const -> bool { return said_; }

  void inject(group_view const& view) {
    auto const lock = std::lock_guard{mutex_};
    injected_ = view;
    changed_.notify_all();
  }
  void cancel() {
    auto const lock = std::lock_guard{mutex_};
    cancelled_ = true;
    changed_.notify_all();
  }

 private:
  agent_request request_;
  std::shared_ptr<agent_sink> sink_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<group_view> injected_;
  std::atomic<bool> cancelled_ = false;
  bool said_ = false;  ///< by the one thread that works on it
};

/// An agent whose rounds are calls of a function, one after another on a thread of its own.
///
///     threaded_agent([](agent_round& round) {
///       round.seen(round.request().view.version);
///       round.finish({group_event_kind::answer, {}, "42"});
///     });
///
/// The function should look at `cancelled` and `new_view` as it goes, since the next round and the
/// agent's end wait for it.
///
/// Errors  what the function throws, and a function that returns without an action, is a failure of
///         the agent: tests/group/agent.cpp
class threaded_agent : public group_agent {
 public:
  using work = std::function<void(agent_round&)>;

  explicit threaded_agent(work rounds) : work_(std::move(rounds)), thread_([this] { run(); }) {}
  ~threaded_agent() override {
    cancel();
    {
      auto const lock = std::lock_guard{mutex_};
      ended_ = true;
      changed_.notify_all();
    }
    thread_.join();
  }
  threaded_agent(threaded_agent const&) = delete;
  auto operator=(threaded_agent const&) -> threaded_agent& = delete;

  void start(agent_request request, std::shared_ptr<agent_sink> sink) override {
    auto const lock = std::lock_guard{mutex_};
    if (current_) current_->cancel();
    current_ = std::make_shared<agent_round>(std::move(request), std::move(sink));
    waiting_ = true;
    changed_.notify_all();
  }
  auto inject(group_view const& view) -> bool override {
    auto const lock = std::lock_guard{mutex_};
    if (current_) current_->inject(view);
    return current_ != nullptr;
  }
  void cancel() override {
    auto const lock = std::lock_guard{mutex_};
    if (current_) current_->cancel();
    current_.reset();
    waiting_ = false;
  }

 private:
  void run() {
    while (auto const round = next()) work_on(*round);
  }
  auto next() -> std::shared_ptr<agent_round> {
    auto lock = std::unique_lock{mutex_};
    changed_.wait(lock, [&] { return waiting_ || ended_; });
    waiting_ = false;
    return ended_ ? nullptr : current_;
  }
  void work_on(agent_round& round) const {
    try {
      work_(round);
      if (not round.said()) round.fail("the agent came to no action");
    } catch (std::exception const& e) {
      round.fail(e.what());
    } catch (...) {
      round.fail("the agent has thrown what is no exception");
    }
  }

  work work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::shared_ptr<agent_round> current_;
  bool waiting_ = false;
  bool ended_ = false;
  std::thread thread_;
};

}  // namespace tessera
