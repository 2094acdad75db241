// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
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
/// Cost    allocates when it is made; a loop wakes and waits for `threads - 1` threads; one thread
///         runs it as it stands
/// Errors  std::runtime_error where the system has no thread to give; the exception of the lowest
///         thread is thrown by the loop, after all tasks have ended
class workers {
 public:
  explicit workers(std::size_t threads) : count_(threads == 0 ? 1 : threads), failed_(count_) {
    threads_.reserve(count_ - 1);
    try {
      for (auto i = std::size_t{1}; i < count_; ++i) threads_.emplace_back([this, i] { serve(i); });
    } catch (std::system_error const& e) {
      stop();  // threads that are not joined would end the program
      throw std::runtime_error("workers: thread " + std::to_string(threads_.size() + 2) + " of " +
                               std::to_string(count_) + " cannot be made: " + e.code().message());
    }
  }
  workers(workers const&) = delete;
  auto operator=(workers const&) -> workers& = delete;
  ~workers() { stop(); }
  [[nodiscard]] auto size() const -> std::size_t { return count_; }

  /// task(0) ... task(tasks - 1), each once, by all threads.
  template <class Task> void run(std::size_t tasks, Task&& task) {
    {
      auto const lock = std::lock_guard{mutex_};
      task_ = std::addressof(task);
      call_ = [](void* self, std::size_t i) {
        (*static_cast<std::remove_cvref_t<Task>*>(self))(i);
      };
      tasks_ = tasks;
      running_ = threads_.size();
      ++loop_;
    }
    wake_.notify_all();
    share(0);
    auto lock = std::unique_lock{mutex_};
    done_.wait(lock, [this] { return running_ == 0; });
    for (auto& failure : failed_)
      if (failure) std::rethrow_exception(std::exchange(failure, nullptr));
  }

 private:
  void stop() {
    {
      auto const lock = std::lock_guard{mutex_};
      ends_ = true;
    }
    wake_.notify_all();
    for (auto& thread : threads_) thread.join();
  }
  void share(std::size_t self) {
    try {
      for (auto i = self; i < tasks_; i += count_) call_(task_, i);
    } catch (...) {
      failed_[self] = std::current_exception();
    }
  }
  void serve(std::size_t self) {
    auto seen = std::size_t{0};
    for (;;) {
      {
        auto lock = std::unique_lock{mutex_};
        wake_.wait(lock, [&] { return ends_ || loop_ != seen; });
        if (ends_) return;
        seen = loop_;
      }
      share(self);
      {
        auto const lock = std::lock_guard{mutex_};
        --running_;
      }
      done_.notify_one();
    }
  }

  std::size_t count_;
  std::vector<std::exception_ptr> failed_;  // of each thread
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  void* task_ = nullptr;
  void (*call_)(void*, std::size_t) = nullptr;
  std::size_t tasks_ = 0;
  std::size_t running_ = 0;
  std::size_t loop_ = 0;
  bool ends_ = false;
  std::vector<std::thread> threads_;  // last: they use all that is above
};

}  // namespace tessera
