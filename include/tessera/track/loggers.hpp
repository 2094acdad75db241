// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/track/detail/lane.hpp>

#include <thread>

namespace tessera {

/// Any number of loggers at once, each served by a thread of its own.
///
/// A call copies its arguments once and returns: no logger can stop or slow a training. One that
/// throws is told of once and gets no more; one that throws try_again gets the call again, with
/// waits that double. Where a queue is full the oldest scalars are dropped, then other data; finish
/// tells how many. A group that goes without finish has failed.
///
/// Cost  a copy of what is logged, and a lock, for each logger
class logger_group final : public logger {
 public:
  explicit logger_group(logger_group_options options = {}) : options_(std::move(options)) {}
  ~logger_group() override { end(run_state::failed); }

  /// Before begin.
  void add(std::unique_ptr<logger> target) {
    auto added = std::make_shared<detail::logger_lane>(std::move(target), options_);
    auto serving = std::thread{[added] { added->run(); }};
    served_.push_back({std::move(added), std::move(serving)});
  }
  [[nodiscard]] auto title() const -> std::string override { return "loggers"; }
  /// Calls that no logger was given, as queues were full.
  [[nodiscard]] auto dropped() const -> std::size_t {
    auto count = dropped_;
    for (auto const& each : served_) count += each.calls->dropped();
    return count;
  }

  void begin(run_info const& run) override {
    post(kind::kept, 0, [run](logger& to) { to.begin(run); });
  }
  void scalars(moment when, std::span<named_value const> values) override {
    post(kind::scalars, values.size_bytes(),
         [when, kept = std::vector<named_value>(values.begin(), values.end())](logger& to) {
           to.scalars(when, kept);
         });
  }
  void histogram(moment when, std::string_view name, std::span<float const> values) override {
    post(kind::data, values.size_bytes(),
         [when, title = std::string{name}, kept = std::vector<float>(values.begin(), values.end())](
             logger& to) { to.histogram(when, title, kept); });
  }
  void image(moment when, std::string_view name, png_image const& picture) override {
    auto const& [bytes, width, height] = picture;
    post(kind::data, bytes.size(),
         [when, title = std::string{name}, w = width, h = height,
          kept = std::vector<std::byte>(bytes.begin(), bytes.end())](logger& to) {
           to.image(when, title, {.bytes = kept, .width = w, .height = h});
         });
  }
  void text(moment when, std::string_view name, std::string_view words) override {
    post(kind::data, words.size(),
         [when, title = std::string{name}, kept = std::string{words}](logger& to) {
           to.text(when, title, kept);
         });
  }
  void hyperparameters(std::span<named_setting const> settings,
                       std::span<named_value const> metrics) override {
    post(kind::kept, 0,
         [s = std::vector<named_setting>(settings.begin(), settings.end()),
          m = std::vector<named_value>(metrics.begin(), metrics.end())](logger& to) {
           to.hyperparameters(s, m);
         });
  }
  /// Waits for the loggers, but no longer than finish_within; those that are busy then are left.
  void finish(run_state state) override { end(state); }

 private:
  using kind = detail::log_kind;
  struct server {
    std::shared_ptr<detail::logger_lane> calls;
    std::thread thread;
  };

  template <class F> void post(kind what, std::size_t bytes, F call) {
    auto const shared = std::make_shared<detail::log_call const>(
        detail::log_call{.kind = what, .bytes = bytes, .make = std::move(call)});
    for (auto const& each : served_) each.calls->post(shared);
  }
  void end(run_state state) {
    auto const last =
        std::make_shared<detail::log_call const>(detail::log_call{.make = [state](logger& to) {
          to.flush();
          to.finish(state);
        }});
    auto const now = detail::logger_lane::clock::now();
    auto const within = options_.finish_within;
    for (auto const& each : served_) each.calls->finish(last);
    for (auto const& each : served_)
      if (not each.calls->is_over_by(now + std::min(options_.failing_within, within), now + within))
        each.calls->interrupt();
    for (auto& each : served_) leave(each);
    served_.clear();
  }
  void leave(server& each) {
    auto const shortly = detail::logger_lane::clock::now() + std::chrono::milliseconds{200};
    if (each.calls->is_over_by(shortly, shortly)) {
      each.thread.join();
    } else {
      each.thread.detach();  // it holds what it uses
      each.calls->warn("is busy still; the run ends without it");
    }
    auto const count = each.calls->dropped();
    if (count > 0) each.calls->warn(std::to_string(count) + " calls were dropped: it was too slow");
    dropped_ += count;
  }

  logger_group_options options_;
  std::vector<server> served_;
  std::size_t dropped_ = 0;
};

}  // namespace tessera
