// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/train/log.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace tessera {

/// Shows a training: one line for each epoch and, in a terminal, a bar of the batches below them.
///
/// Cost  a bar at most ten times a second; nothing between
class epoch_display {
 public:
  explicit epoch_display(std::uint64_t epochs, std::FILE* to = stdout)
      : epochs_(epochs), to_(to), terminal_(is_terminal(to)) {}

  void epoch(epoch_report const& r) const {
    if (terminal_) (void)std::fprintf(to_, "\r\033[K");
    (void)std::fprintf(to_,
                       "epoch %4llu/%llu  loss %.6f  frozen %.6f%s  norm %.2f  rate %.2e  %.2f s\n",
                       static_cast<unsigned long long>(r.epoch),
                       static_cast<unsigned long long>(epochs_), r.training_loss, r.monitored_loss,
                       r.best ? "*" : " ", r.largest_gradient_norm, r.rate, r.seconds);
    (void)std::fflush(to_);
  }
  void batch(std::uint64_t done, std::uint64_t of) {
    constexpr auto pause = std::chrono::milliseconds{100};
    if (not terminal_ || clock::now() - shown_ < pause) return;
    shown_ = clock::now();
    (void)std::fprintf(to_, "\r%s", bar(done, of).c_str());
    (void)std::fflush(to_);
  }
  /// "[##########          ] 3/6"
  [[nodiscard]] static auto bar(std::uint64_t done, std::uint64_t of) -> std::string {
    constexpr auto width = std::uint64_t{40};
    auto const filled = of == 0 ? width : done * width / of;
    return '[' + std::string(filled, '#') + std::string(width - filled, ' ') + "] " +
           std::to_string(done) + '/' + std::to_string(of);
  }

 private:
  using clock = std::chrono::steady_clock;

  [[nodiscard]] static auto is_terminal([[maybe_unused]] std::FILE* file) -> bool {
#if __has_include(<unistd.h>)
    return ::isatty(::fileno(file)) == 1;
#else
    return false;
#endif
  }

  std::uint64_t epochs_;
  std::FILE* to_;
  bool terminal_;
  clock::time_point shown_ = clock::now();
};

}  // namespace tessera
