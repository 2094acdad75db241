// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <fstream>

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

namespace test {

/// As long as it lives there is memory for one more thread, whose stack is large, and for no
/// second.
class room_for_one_thread {
 public:
  room_for_one_thread() {
    auto pages = std::size_t{0};
    std::ifstream{"/proc/self/statm"} >> pages;
    (void)::getrlimit(RLIMIT_AS, &before_);
    auto const most = pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE)) + stack * 7 / 4;
    auto const less = rlimit{most, before_.rlim_max};
    (void)::setrlimit(RLIMIT_AS, &less);
    set_stack(stack);
  }
  room_for_one_thread(room_for_one_thread const&) = delete;
  auto operator=(room_for_one_thread const&) -> room_for_one_thread& = delete;
  ~room_for_one_thread() {
    set_stack(std::size_t{8} << 20U);
    (void)::setrlimit(RLIMIT_AS, &before_);
  }

 private:
  static constexpr auto stack = std::size_t{1} << 30U;
  static void set_stack(std::size_t bytes) {
    pthread_attr_t attributes;
    (void)::pthread_attr_init(&attributes);
    (void)::pthread_attr_setstacksize(&attributes, bytes);
    (void)::pthread_setattr_default_np(&attributes);
    (void)::pthread_attr_destroy(&attributes);
  }
  rlimit before_{};
};

}  // namespace test
