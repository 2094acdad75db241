// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/generate/engine.hpp>
#include <tessera/group/conductor.hpp>

#include <exception>
#include <utility>

/// Groups whose agents all have one engine: what happens depends on seeds and texts alone.
namespace tessera::detail::inline TESSERA_TARGET {

/// A conductor on an engine's thread: it hears between two steps what was said in the one before.
template <class Group>
class step_conductor : public std::enable_shared_from_this<step_conductor<Group>> {
 public:
  step_conductor(engine& runs, Group& group, conductor_options const& options)
      : runs_(runs), group_(group), options_(options) {}

  [[nodiscard]] auto run(group_task const& task, std::vector<std::shared_ptr<group_agent>> agents)
      -> bool {
    conductor_.emplace(
        group_, task, std::move(agents), options_, [this] { return time(); },
        [self = this->weak_from_this()] {
          if (auto const that = self.lock()) (void)that->ask(&step_conductor::hear);
        });
    ask_or_throw(&step_conductor::begin);
    wait();
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return not interrupted_;
  }

 private:
  using act = void (step_conductor::*)();

  void ask_or_throw(act what) {
    if (not ask(what)) throw std::runtime_error("conduct_in_step: the engine has ended");
  }
  /// On the engine's thread, where the group has not ended by then.
  auto ask(act what) -> bool {
    return runs_.between_steps([self = this->shared_from_this(), what] {
      if (self->over_) return;
      try {
        (self.get()->*what)();
        // Where it is over, the group belongs to its caller again.
        if (not self->over_ && self->conductor_->protocol().ended()) self->end();
      } catch (...) {
        self->error_ = std::current_exception();
      }
      if (self->error_ && not self->over_) self->end();  // what was thrown is the caller's alone
    });
  }
  void begin() {
    runs_.forget();
    first_step_ = runs_.counts().steps;
    conductor_->begin_group();
    conductor_->hear_all();
  }
  void hear() { conductor_->hear_all(); }
  void look() { options_.look(conductor_->protocol()); }
  void reach_limit() { conductor_->tick(limit()); }
  void interrupt() {
    interrupted_ = true;
    end();
  }
  void end() {
    if (over_) return;
    conductor_->stop_all();
    auto const lock = std::lock_guard{mutex_};
    over_ = true;
    changed_.notify_all();
  }

  /// A step is a millisecond, but for the limit: that is of the wall clock.
  [[nodiscard]] auto time() const -> group_time {
    auto const steps = runs_.counts().steps - first_step_;
    return std::min(group_time{static_cast<group_time::rep>(steps)}, limit() - group_time{1});
  }
  [[nodiscard]] auto limit() const -> group_time {
    return protocol_of(group_).options().time_limit;
  }
  void wait() {
    auto const now = wall_clock();
    auto asked = false;
    auto lock = std::unique_lock{mutex_};
    while (not changed_.wait_for(lock, options_.tick, [&] { return over_; })) {
      if (asked) continue;
      lock.unlock();
      auto const stops = is_interrupted();
      asked = stops || now() >= limit();
      if (asked)
        ask_or_throw(stops ? &step_conductor::interrupt : &step_conductor::reach_limit);
      else if (options_.look)
        ask_or_throw(&step_conductor::look);
      lock.lock();
    }
  }
  [[nodiscard]] auto is_interrupted() -> bool {
    try {
      return options_.interrupted && options_.interrupted();
    } catch (...) {
      thrown_ = std::current_exception();
      return true;
    }
  }

  engine& runs_;
  Group& group_;
  conductor_options const& options_;
  std::optional<conductor<Group>> conductor_;
  std::uint64_t first_step_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;  // the engine's thread alone changes it
  bool interrupted_ = false;
  std::exception_ptr error_;   // on that thread
  std::exception_ptr thrown_;  // by `interrupted`
};

}  // namespace tessera::detail::inline TESSERA_TARGET

namespace tessera::inline TESSERA_TARGET {

/// `conduct` for agents that are all of `runs`: the same seeds and texts give the same events in
/// the same order at the same times, and so the same record, byte for byte.
///
/// Events are heard and commands obeyed on the engine's thread between two steps, and so is
/// `observe` and `look` called. An event's time is the number of steps since the beginning, as
/// milliseconds; `round_timeout` counts on the same clock. The time limit is one of the wall clock:
/// the tick that ends a group by it, at a time of `time_limit`, is the one thing that may differ
/// between runs. `interrupted` is asked on the thread of this call.
///
/// The engine has no other requests meanwhile: who has a lane first would depend on them. What its
/// lanes have kept of earlier ones is forgotten.
///
/// Errors  those of `conduct`; what `group`, `observe` and `look` throw; std::runtime_error for an
///         engine that has ended: tests/group/in_step.cpp
template <class Group>
[[nodiscard]] auto conduct_in_step(engine& runs, Group& group, group_task const& task,
                                   std::vector<std::shared_ptr<group_agent>> agents,
                                   conductor_options const& options = {}) -> bool {
  auto const expected = detail::protocol_of(group).size();
  if (agents.size() != expected)
    throw std::invalid_argument("conduct_in_step: expected " + std::to_string(expected) +
                                " agents, got " + std::to_string(agents.size()));
  return std::make_shared<detail::step_conductor<Group>>(runs, group, options)
      ->run(task, std::move(agents));
}

}  // namespace tessera::inline TESSERA_TARGET
