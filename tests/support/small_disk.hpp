// SPDX-License-Identifier: MIT
#pragma once

#include <csignal>

#include <sys/resource.h>

namespace test {

/// Files of at most `bytes` bytes, as on a disk that is full then.
class small_disk {
 public:
  explicit small_disk(rlim_t bytes) : signal_(std::signal(SIGXFSZ, SIG_IGN)) {
    (void)::getrlimit(RLIMIT_FSIZE, &before_);
    auto const less = rlimit{bytes, before_.rlim_max};
    (void)::setrlimit(RLIMIT_FSIZE, &less);
  }
  small_disk(small_disk const&) = delete;
  auto operator=(small_disk const&) -> small_disk& = delete;
  ~small_disk() {
    (void)::setrlimit(RLIMIT_FSIZE, &before_);
    (void)std::signal(SIGXFSZ, signal_);
  }

 private:
  rlimit before_{};
  void (*signal_)(int);
};

}  // namespace test
