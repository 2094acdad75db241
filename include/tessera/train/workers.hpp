// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/sharing.hpp>
#include <tessera/core/config.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace tessera {

/// Threads that share the tasks of a loop, the caller's own among them. Who does a task is decided
/// by its number: what a task computes must not depend on others.
///
/// One team serves a whole program. It works on one loop at a time; another that begins meanwhile,
/// on another thread or within a task, is run by its caller alone.
///
/// Cost    allocates when it is made; a loop takes no lock and about a microsecond where the last
///         one was less than 50 us ago, since threads look out for the next so long before they
///         sleep; where they are more than the processors, they sleep at once. One thread runs a
///         loop as it stands
/// Errors  std::runtime_error where the system has no thread to give; the exception of the lowest
///         thread is thrown by the loop, after all tasks have ended but those that would have
///         followed the one that failed on its thread
class workers {
 public:
  explicit workers(std::size_t threads)
      : team_{threads == 0 ? 1 : threads, this, run_shared},
        failed_(size()),
        looks_out_(std::thread::hardware_concurrency() >= size()) {
    threads_.reserve(size() - 1);
    try {
      for (auto i = std::size_t{1}; i < size(); ++i) threads_.emplace_back([this, i] { serve(i); });
    } catch (std::system_error const& e) {
      stop();  // threads that are not joined would end the program
      throw std::runtime_error("workers: thread " + std::to_string(threads_.size() + 2) + " of " +
                               std::to_string(size()) + " cannot be made: " + e.code().message());
    }
  }
  workers(workers const&) = delete;
  auto operator=(workers const&) -> workers& = delete;
  ~workers() { stop(); }
  [[nodiscard]] auto size() const -> std::size_t { return team_.threads; }

  /// task(0) ... task(tasks - 1), each once, by all threads.
  template <class Task> void run(std::size_t tasks, Task&& task) {
    run_tasks(tasks, std::addressof(task), [](void* self, std::size_t i) {
      (*static_cast<std::remove_cvref_t<Task>*>(self))(i);
    });
  }

 private:
  friend class shared_operations;
  using clock = std::chrono::steady_clock;

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
    tasks_ = tasks;
    running_.store(static_cast<std::uint32_t>(threads_.size()), std::memory_order_relaxed);
    loop_.fetch_add(1, std::memory_order_release);
    loop_.notify_all();
    share(0);
    for (auto left = running_.load(std::memory_order_acquire); left != 0;
         left = running_.load(std::memory_order_acquire))
      await_change(running_, left);
    auto first = std::exception_ptr{};
    for (auto& failure : failed_) {
      auto const found = std::exchange(failure, nullptr);
      if (first == nullptr) first = found;
    }
    busy_.store(false, std::memory_order_release);
    if (first != nullptr) std::rethrow_exception(first);
  }
  void stop() {
    ends_.store(true, std::memory_order_relaxed);
    loop_.fetch_add(1, std::memory_order_release);
    loop_.notify_all();
    for (auto& thread : threads_) thread.join();
  }
  void share(std::size_t self) {
    try {
      for (auto i = self; i < tasks_; i += size()) call_(task_, i);
    } catch (...) {
      failed_[self] = std::current_exception();
    }
  }
  void serve(std::size_t self) {
    auto seen = std::uint32_t{0};
    for (;;) {
      await_change(loop_, seen);
      seen = loop_.load(std::memory_order_acquire);
      if (ends_.load(std::memory_order_relaxed)) return;
      share(self);
      if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) running_.notify_one();
    }
  }
  /// Returns when `number` is not `old` any more: looks out for a while, then sleeps.
  void await_change(std::atomic<std::uint32_t> const& number, std::uint32_t old) const {
    constexpr auto longest = std::chrono::microseconds{50};
    auto const begun = clock::now();
    while (looks_out_ && clock::now() - begun < longest)
      for (auto i = 0; i < 32; ++i) {
        if (number.load(std::memory_order_acquire) != old) return;
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
      }
    number.wait(old, std::memory_order_acquire);
  }

  detail::sharing_team team_;
  std::vector<std::exception_ptr> failed_;  // of each thread
  bool looks_out_;
  std::atomic<bool> busy_ = false;
  std::atomic<bool> ends_ = false;
  void* task_ = nullptr;
  void (*call_)(void*, std::size_t) = nullptr;
  std::size_t tasks_ = 0;
  std::atomic<std::uint32_t> loop_ = 0;
  std::atomic<std::uint32_t> running_ = 0;
  std::vector<std::thread> threads_;  // last: they use all that is above
};

/// As long as it lives, large operations of the thread that made it are shared with a team: the
/// rows, or columns, of a product of more than `detail::worth_sharing` multiply-adds. Every number
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
