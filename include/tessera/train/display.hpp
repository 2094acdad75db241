// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/train/callback.hpp>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>

#if __has_include(<unistd.h>)
#include <unistd.h>
#endif

namespace tessera {

/// How far an epoch is, and how well it goes.
struct epoch_state {
  std::uint64_t done = 0;  ///< batches
  std::uint64_t of = 0;
  double seconds = 0;         ///< that they took
  double loss = 0;            ///< their mean
  double monitored_loss = 0;  ///< of the last validation; NaN before the first
};

/// Shows a training: one line for each epoch and, in a terminal, a bar of the batches below them.
///
/// Cost  a bar at most ten times a second; nothing between
class epoch_display : public callback {
 public:
  explicit epoch_display(std::FILE* to = stdout) : to_(to), terminal_(is_terminal(to)) {}

  void on_fit_start(fit_control& fit) override { epochs_ = fit.options().max_epochs; }
  void on_train_epoch_start(fit_control& fit, std::uint64_t batches) override {
    now_ = {.done = 0, .of = batches, .monitored_loss = now_.monitored_loss};
    before_ = fit.progress().batch;
    loss_sum_ = 0;
    begun_ = clock::now();
  }
  void on_train_batch_end(fit_control&, batch_report const& r) override {
    now_.done = r.batch;
    loss_sum_ += r.loss;
    constexpr auto pause = std::chrono::milliseconds{100};
    if (not terminal_ || clock::now() - shown_ < pause) return;
    shown_ = clock::now();
    now_.seconds = std::chrono::duration<double>(shown_ - begun_).count();
    now_.loss = loss_sum_ / static_cast<double>(now_.done - before_);
    (void)std::fprintf(to_, "\r%s\033[K", bar(now_, before_).c_str());
    (void)std::fflush(to_);
  }
  void on_validation_end(fit_control&, validation_report const& r) override {
    now_.monitored_loss = r.scores[0].value;
  }
  void on_train_epoch_end(fit_control&, epoch_report const& r) override {
    if (terminal_) (void)std::fprintf(to_, "\r\033[K");
    auto const frozen = r.validated ? number("%.6f", r.monitored_loss) : std::string{"-       "};
    (void)std::fprintf(to_,
                       "epoch %4llu/%llu  loss %.6f  frozen %s%s  norm %.2f  rate %.2e  %.2f s\n",
                       static_cast<unsigned long long>(r.epoch),
                       static_cast<unsigned long long>(epochs_), r.training_loss, frozen.c_str(),
                       r.best ? "*" : " ", r.largest_gradient_norm, r.rate, r.seconds);
    (void)std::fflush(to_);
  }
  /// "[#####     ] 3/6  12.5 batches/s  0:17 left  loss 0.2500  frozen 0.1250"; the first batches
  /// may be those of another run, which took none of the seconds.
  [[nodiscard]] static auto bar(epoch_state const& now, std::uint64_t before = 0) -> std::string {
    constexpr auto width = std::uint64_t{30};
    auto const filled = now.of == 0 ? width : now.done * width / now.of;
    auto text = '[' + std::string(filled, '#') + std::string(width - filled, ' ') + "] " +
                std::to_string(now.done) + '/' + std::to_string(now.of);
    if (now.done == before || not(now.seconds > 0)) return text;
    auto const rate = static_cast<double>(now.done - before) / now.seconds;
    auto const left =
        static_cast<unsigned long long>(static_cast<double>(now.of - now.done) / rate + 0.5);
    text += number("  %.3g batches/s", rate) + "  " + time_text(left) + " left" +
            number("  loss %.4f", now.loss);
    return std::isnan(now.monitored_loss) ? text
                                          : text + number("  frozen %.4f", now.monitored_loss);
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

  [[nodiscard]] static auto number(char const* format, double value) -> std::string {
    char text[64];
    (void)std::snprintf(text, sizeof text, format, value);
    return text;
  }
  /// "1:02:03", or "2:03".
  [[nodiscard]] static auto time_text(unsigned long long seconds) -> std::string {
    char text[64];
    auto const minutes = seconds / 60;
    if (minutes < 60)
      (void)std::snprintf(text, sizeof text, "%llu:%02llu", minutes, seconds % 60);
    else
      (void)std::snprintf(text, sizeof text, "%llu:%02llu:%02llu", minutes / 60, minutes % 60,
                          seconds % 60);
    return text;
  }

  std::uint64_t epochs_ = 0;
  std::FILE* to_;
  bool terminal_;
  epoch_state now_ = {.monitored_loss = std::numeric_limits<double>::quiet_NaN()};
  std::uint64_t before_ = 0;  // batches of this epoch by the run before
  double loss_sum_ = 0;
  clock::time_point begun_;
  clock::time_point shown_ = clock::now();
};

}  // namespace tessera
