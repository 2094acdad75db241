// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/sharing.hpp>
#include <tessera/core/config.hpp>
#include <tessera/io/start_threads.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tessera {

/// Threads that share the tasks of a loop, the caller's own among them. Who does a task is decided
/// by its number: what a task computes must not depend on others.
///
/// One team serves a whole program. It works on one loop at a time; another that begins meanwhile,
/// on another thread or within a task, is run by its caller alone.
///
/// Cost    allocates when it is made; a loop takes no lock, waits for those threads alone that have
///         a task of it, and takes about a microsecond beside its tasks where loops follow within
///         a millisecond, as threads look out for the next one so long before they sleep; less long
///         where that was in vain a few times in a row, as on a busy machine, and not at all where
///         they are more than the processors. One thread runs a loop as it stands
/// Errors  std::runtime_error where the system has no thread to give; the exception of the lowest
///         thread is thrown by the loop, after all tasks have ended but those that would have
///         followed the one that failed on its thread. A process that was forked off has no
///         threads: its teams are to be made anew
class workers {
 public:
  explicit workers(std::size_t threads)
      : longest_(std::thread::hardware_concurrency() >= threads ? 1'000'000 : 0),
        team_{threads == 0 ? 1 : threads, this, run_shared} {
    failed_.resize(size());
    detail::start_threads(
        threads_, "workers", 1, size(), [this](std::size_t i) { serve(i); }, [this] { stop(); });
  }
  workers(workers const&) = delete;
  auto operator=(workers const&) -> workers& = delete;
  ~workers() { stop(); }
  [[nodiscard]] auto size() const -> std::size_t { return team_.threads; }

  /// task(0) ... task(tasks - 1), each once, by all threads.
  template <class Task> void run(std::size_t tasks, Task&& task) {
    auto one = [&](std::size_t i) { task(i); };
    run_tasks(tasks, &one,
              [](void* self, std::size_t i) { (*static_cast<decltype(one)*>(self))(i); });
  }

 private:
  friend class shared_operations;
  using clock = std::chrono::steady_clock;
  using nanoseconds = std::chrono::nanoseconds;

  static void run_shared(void* self, std::size_t tasks, void* task,
                         void (*call)(void*, std::size_t)) {
    static_cast<workers*>(self)->run_tasks(tasks, task, call);
  }
  void run_tasks(std::size_t tasks, void* task, void (*call)(void*, std::size_t)) {
    if (threads_.empty() || tasks < 2 || busy_.exchange(true, std::memory_order_acquire)) {
      for (auto i = std::size_t{0}; i < tasks; ++i) call(task, i);
      return;
    }
    task_ = task;
    call_ = call;
    auto const others = tasks < size() ? tasks - 1 : size() - 1;
    running_.store(static_cast<std::uint32_t>(others), std::memory_order_relaxed);
    begin(tasks);
    // Within a task nothing is shared with those who work already.
    auto const* const outer = std::exchange(detail::current_team, nullptr);
    share(0, tasks);
    detail::current_team = outer;
    for (auto left = running_.load(std::memory_order_acquire); left != 0;
         left = running_.load(std::memory_order_acquire))
      await_change(running_, left, mine_);
    auto first = std::exception_ptr{};
    for (auto& failure : failed_) {
      auto const found = std::exchange(failure, nullptr);
      if (first == nullptr) first = found;
    }
    busy_.store(false, std::memory_order_release);
    if (first != nullptr) std::rethrow_exception(first);
  }
  /// The number of tasks stands beside that of the loop, so that a thread that has none of them
  /// need not be waited for before the next loop begins.
  void begin(std::size_t tasks) {
    tasks_ = tasks;
    auto const now = loop_.load(std::memory_order_relaxed);
    auto const count = tasks < most_tasks ? tasks : most_tasks;
    loop_.store(((now >> task_bits) + 1) << task_bits | count, std::memory_order_release);
    loop_.notify_all();
  }
  void stop() {
    ends_.store(true, std::memory_order_relaxed);
    begin(size());
    for (auto& thread : threads_) thread.join();
  }
  void share(std::size_t self, std::size_t tasks) {
    try {
      for (auto i = self; i < tasks; i += size()) call_(task_, i);
    } catch (...) {
      failed_[self] = std::current_exception();
    }
  }
  void serve(std::size_t self) {
    auto seen = std::uint64_t{0};
    auto mine = patience{longest_};
    for (;;) {
      await_change(loop_, seen, mine);
      seen = loop_.load(std::memory_order_acquire);
      if (ends_.load(std::memory_order_relaxed)) return;
      if (self >= seen % (most_tasks + 1)) continue;
      share(self, tasks_);
      if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) running_.notify_one();
    }
  }
  /// How long a thread looks out, and how often in a row that was in vain.
  struct patience {
    nanoseconds time;
    unsigned in_vain = 0;
  };
  /// Returns when `number` is not `old` any more: looks out for a while, then sleeps. What was in
  /// vain `tries` times in a row is tried half as long, and every sixteenth time as long as ever: a
  /// single wait for what is not shared is no sign of a busy machine.
  template <class T> void await_change(std::atomic<T> const& number, T old, patience& mine) const {
    auto const begun = clock::now();
    auto const most = mine.in_vain % 16 == 15 ? longest_ : mine.time;
    while (clock::now() - begun < most)
      for (auto i = 0; i < 32; ++i) {
        if (number.load(std::memory_order_acquire) != old) {
          mine = {longest_};
          return;
        }
#if defined(__x86_64__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("yield");
#endif
      }
    mine = {mine.in_vain < tries ? mine.time : mine.time / 2, mine.in_vain + 1};
    number.wait(old, std::memory_order_acquire);
  }

  static constexpr auto tries = 4U;
  static constexpr std::size_t most_tasks = 0xFFFF;
  static constexpr unsigned task_bits = 16;

  alignas(64) std::atomic<std::uint32_t> running_ = 0;
  std::atomic<bool> busy_ = false;
  std::atomic<bool> ends_ = false;
  nanoseconds longest_;
  void* task_ = nullptr;
  void (*call_)(void*, std::size_t) = nullptr;
  std::size_t tasks_ = 0;
  patience mine_{longest_};  // of whoever runs a loop
  detail::sharing_team team_;
  std::vector<std::exception_ptr> failed_;  // of each thread
  std::vector<std::thread> threads_;
  alignas(64) std::atomic<std::uint64_t> loop_ = 0;  // its number, and of its tasks as many as fit
};

/// As long as it lives, large operations of the thread that made it are shared with a team: the
/// rows, or columns, of a product of `detail::worth_sharing` multiply-adds or more. Every number
/// is computed as by one thread: the bits are the same.
///
///     auto team = workers(4);
///     auto const sharing = shared_operations(team);
///     auto const& y = (*run)(parameters, x);
///
/// Cost  nothing for what is small, and about a microsecond for each operation that is shared
class [[nodiscard]] shared_operations {
 public:
  explicit shared_operations(workers& team TESSERA_LIFETIMEBOUND)
      : before_(std::exchange(detail::current_team, &team.team_)) {}
  shared_operations(shared_operations const&) = delete;
  auto operator=(shared_operations const&) -> shared_operations& = delete;
  ~shared_operations() { detail::current_team = before_; }

 private:
  detail::sharing_team const* before_;
};

}  // namespace tessera
