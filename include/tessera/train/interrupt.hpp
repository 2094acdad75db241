// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <csignal>

namespace tessera {

/// Turns Ctrl-C (and a polite kill) into a request, as long as it lives; a second one ends the
/// program as ever. Any thread may ask for it.
///
/// Cost  one object at a time
class interrupt_guard {
 public:
  interrupt_guard()
      : interrupt_(std::signal(SIGINT, &note)), terminate_(std::signal(SIGTERM, &note)) {}
  interrupt_guard(interrupt_guard const&) = delete;
  auto operator=(interrupt_guard const&) -> interrupt_guard& = delete;
  ~interrupt_guard() {
    (void)std::signal(SIGINT, interrupt_);
    (void)std::signal(SIGTERM, terminate_);
    wanted = 0;
  }
  [[nodiscard]] static auto requested() -> bool { return wanted != 0; }

 private:
  static void note(int signal) {
    wanted = 1;
    (void)std::signal(signal, SIG_DFL);
  }
  static inline std::atomic<int> wanted = 0;
  static_assert(std::atomic<int>::is_always_lock_free, "a handler may not wait for a lock");

  using handler = void (*)(int);
  handler interrupt_;
  handler terminate_;
};

}  // namespace tessera
