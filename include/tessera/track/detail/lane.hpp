// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/track/logger.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

namespace tessera {

/// How a group serves its loggers.
struct logger_group_options {
  std::size_t queue_length = 4096;                  ///< calls that wait for one logger
  std::size_t queue_bytes = std::size_t{1} << 28U;  ///< what they hold
  std::chrono::milliseconds flush_every{1000};
  std::chrono::milliseconds finish_within{10'000};
  std::chrono::milliseconds failing_within{2'000};  ///< the same for one that has failed lately
  std::chrono::milliseconds first_wait{100};  ///< before a call is made again; then it doubles
  std::chrono::milliseconds longest_wait{10'000};
  /// Told of loggers that fail and of what was dropped, from their threads; without it stderr is.
  std::function<void(std::string const&)> warn = {};
};

namespace detail {

/// What is dropped first where a queue is full; a call that is kept always is not.
enum class log_kind { scalars, data, kept };

/// A call that any logger may be given, with copies of its arguments.
struct log_call {
  log_kind kind = log_kind::kept;
  std::size_t bytes = 0;
  std::function<void(logger&)> make;
};
using shared_call = std::shared_ptr<log_call const>;

/// The calls that wait for one logger, and the loop of the thread that makes them.
class logger_lane {
 public:
  using clock = std::chrono::steady_clock;

  logger_lane(std::unique_ptr<logger> target, logger_group_options options)
      : target_(std::move(target)), options_(std::move(options)), title_(target_->title()) {}

  /// Never waits for the logger; makes room by dropping the oldest scalars. A call that is larger
  /// than the whole queue is dropped itself.
  void post(shared_call call) {
    auto const lock = std::lock_guard{mutex_};
    if (over_ || finishing_) return;
    if (call->kind != log_kind::kept && call->bytes > options_.queue_bytes) {
      ++dropped_;  // no room that others could make is enough
      return;
    }
    while (is_full(call->bytes) && drop_one()) {
    }
    push(std::move(call));
  }
  /// The last call. After it the loop ends; a logger that was failing gets one more try.
  void finish(shared_call call) {
    auto const lock = std::lock_guard{mutex_};
    finishing_ = true;
    if (not over_) push(std::move(call));
  }
  /// False where the logger still is busy at `last`, or is failing at `soon` or later.
  [[nodiscard]] auto is_over_by(clock::time_point soon, clock::time_point last) -> bool {
    auto lock = std::unique_lock{mutex_};
    changed_.wait_until(lock, soon, [&] { return over_; });
    changed_.wait_until(lock, last, [&] { return over_ || failing_; });
    return over_;
  }
  void interrupt() noexcept {
    {
      auto const lock = std::lock_guard{mutex_};
      abandoned_ = true;
      changed_.notify_all();
    }
    target_->interrupt();
  }
  [[nodiscard]] auto dropped() -> std::size_t {
    auto const lock = std::lock_guard{mutex_};
    return dropped_;
  }
  [[nodiscard]] auto title() const -> std::string const& { return title_; }
  void warn(std::string const& what) const {
    if (options_.warn)
      options_.warn(title_ + ": " + what);
    else
      (void)std::fprintf(stderr, "warning: %s: %s\n", title_.c_str(), what.c_str());
  }

  void run() {
    auto running = true;
    while (running) {
      auto const call = next();
      running = call && attempt(*call);
    }
    auto const lock = std::lock_guard{mutex_};
    over_ = true;
    queue_.clear();
    changed_.notify_all();
  }

 private:
  [[nodiscard]] auto is_full(std::size_t more) const -> bool {
    return queue_.size() >= options_.queue_length || bytes_ + more > options_.queue_bytes;
  }
  [[nodiscard]] auto drop_one() -> bool {
    for (auto const kind : {log_kind::scalars, log_kind::data}) {
      auto const found = std::ranges::find_if(
          queue_, [&](shared_call const& waiting) { return waiting->kind == kind; });
      if (found == queue_.end()) continue;
      bytes_ -= (*found)->bytes;
      queue_.erase(found);
      ++dropped_;
      return true;
    }
    return false;
  }
  void push(shared_call call) {
    bytes_ += call->bytes;
    queue_.push_back(std::move(call));
    changed_.notify_all();
  }
  /// The next call, or a flush where one is due; nothing after the last.
  [[nodiscard]] auto next() -> shared_call {
    static auto const flush =
        std::make_shared<log_call const>(log_call{.make = [](logger& target) { target.flush(); }});
    auto lock = std::unique_lock{mutex_};
    auto const is_awake = [&] { return abandoned_ || finishing_ || not queue_.empty(); };
    if (is_held_back_)
      changed_.wait_until(lock, flush_at_, is_awake);
    else
      changed_.wait(lock, is_awake);
    if (abandoned_ || (finishing_ && queue_.empty())) return nullptr;
    if (is_held_back_ && (queue_.empty() || clock::now() >= flush_at_)) {
      is_held_back_ = false;
      return flush;
    }
    auto call = std::move(queue_.front());
    queue_.pop_front();
    bytes_ -= call->bytes;
    if (not std::exchange(is_held_back_, true)) flush_at_ = clock::now() + options_.flush_every;
    return call;
  }
  /// Makes a call, again and again where the logger asks for that. False where it is to get no
  /// more.
  [[nodiscard]] auto attempt(log_call const& call) -> bool {
    auto wait = options_.first_wait;
    for (;;) {
      auto const began_before_end = not is_finishing();
      try {
        call.make(*target_);
        works();
        return true;
      } catch (try_again const& e) {
        warn_once(std::string{e.what()} + "; it is tried again");
        if (not fails(began_before_end) || not pause(wait)) return false;
        wait = std::min(2 * wait, options_.longest_wait);
      } catch (std::exception const& e) {
        warn_of_end(e.what());
        return false;
      } catch (...) {
        warn_of_end("it threw something unknown");
        return false;
      }
    }
  }
  [[nodiscard]] auto is_finishing() -> bool {
    auto const lock = std::lock_guard{mutex_};
    return finishing_;
  }
  /// True where another try is due. After the end one that was failing before gets one, and so does
  /// one that never worked; any other gets them while the group waits.
  [[nodiscard]] auto fails(bool before_end) -> bool {
    auto const lock = std::lock_guard{mutex_};
    auto const due = before_end || (worked_ && not was_failing_);
    failing_ = true;
    was_failing_ = was_failing_ || before_end;
    changed_.notify_all();
    return due;
  }
  void works() {
    auto const lock = std::lock_guard{mutex_};
    worked_ = true;
    failing_ = was_failing_ = false;
  }
  /// False where the group waits no longer.
  [[nodiscard]] auto pause(std::chrono::milliseconds wait) -> bool {
    auto lock = std::unique_lock{mutex_};
    if (finishing_)
      changed_.wait_for(lock, std::min(wait, options_.first_wait), [&] { return abandoned_; });
    else
      changed_.wait_for(lock, wait, [&] { return abandoned_ || finishing_; });
    return not abandoned_;
  }
  void warn_once(std::string const& what) {
    if (not std::exchange(warned_, true)) warn(what);
  }
  void warn_of_end(std::string const& what) {
    if (not std::exchange(warned_, true)) warn(what + "; the run goes on without it");
  }

  std::unique_ptr<logger> target_;
  logger_group_options options_;
  std::string title_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<shared_call> queue_;
  std::size_t bytes_ = 0;
  std::size_t dropped_ = 0;
  bool finishing_ = false;
  bool abandoned_ = false;
  bool over_ = false;
  bool worked_ = false;
  bool failing_ = false;      // in its last call
  bool was_failing_ = false;  // in its last call before the end
  // The loop's own:
  bool is_held_back_ = false;
  bool warned_ = false;
  clock::time_point flush_at_;
};

}  // namespace detail
}  // namespace tessera
