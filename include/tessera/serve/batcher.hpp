// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/start_threads.hpp>
#include <tessera/io/told_once.hpp>
#include <tessera/serve/model.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

namespace tessera {

struct batch_options {
  std::size_t most_rows = 0;  ///< of a batch; 0: what the model's extent takes
  std::vector<std::size_t> preferred_batch_size = {};  ///< that are not waited for longer
  std::chrono::microseconds max_queue_delay{0};        ///< that the oldest request waits for others
  std::size_t queue = 256;                             ///< requests that wait; more are refused
  std::size_t runners = 1;                             ///< threads
};

/// What a sequence of requests carries from one to the next. Only one of its requests is worked on
/// at a time, in their order.
struct sequence_state {
  std::vector<std::byte> bytes;
  bool running = false;              ///< under the batcher's lock
  std::atomic<bool> broken = false;  ///< a request was lost: what follows would be wrong
};

struct inference_result {
  std::vector<served_tensor> outputs;
  std::string error;  ///< why there are no outputs
  double queue_seconds = 0;
  bool refused = false;  ///< the error is not the model's: it was not asked
};

/// A request for a batcher. `done` is called once, on one of its threads.
struct inference_job {
  std::vector<served_tensor> inputs;
  std::size_t rows = 1;
  std::shared_ptr<sequence_state> sequence = {};
  std::function<void(inference_result)> done;
  std::function<bool()> wanted = {};  ///< false: nobody waits any more, and it is not run
};

enum class submission : std::uint8_t { accepted, full, closed };

/// Joins requests to batches, on threads of its own.
///
/// A batch begins where it has the rows of the largest, or one of the preferred sizes, or where its
/// oldest request has waited for `max_queue_delay`; without a delay, as soon as a thread is free.
///
/// Errors  where a model throws, the batch is run again one by one: only the request that it throws
///         for fails; a sequence that has lost a request answers no more; std::invalid_argument
///         for a request of more rows than a batch has, std::runtime_error where the system has no
///         thread to give; what making a runner throws is thrown on. A `wanted` that throws is the
///         error of its request; of `done` and `observe` standard error is told once
class batcher {
 public:
  using clock = std::chrono::steady_clock;

  batcher(std::shared_ptr<served_model const> model, batch_options options,
          std::function<void(std::size_t rows)> observe = {})
      : model_(std::move(model)), options_(std::move(options)), observe_(std::move(observe)) {
    auto const bound = model_->most_rows();
    if (options_.most_rows == 0 || options_.most_rows > bound) options_.most_rows = bound;
    auto const count = std::max<std::size_t>(options_.runners, 1);
    for (auto i = std::size_t{0}; i < count; ++i) runners_.push_back(model_->make_runner());
    detail::start_threads(
        threads_, "batcher", 0, count, [this](std::size_t i) { work(*runners_[i]); },
        [this] { close(); });
  }
  batcher(batcher const&) = delete;
  auto operator=(batcher const&) -> batcher& = delete;
  ~batcher() { close(); }

  [[nodiscard]] auto most_rows() const -> std::size_t { return options_.most_rows; }
  [[nodiscard]] auto submit(inference_job job) -> submission {
    if (job.rows > options_.most_rows)
      throw std::invalid_argument("batcher: expected a request of at most " +
                                  std::to_string(options_.most_rows) + " rows, got " +
                                  std::to_string(job.rows));
    auto const lock = std::lock_guard{mutex_};
    if (closed_) return submission::closed;
    if (waiting_.size() >= options_.queue) return submission::full;
    waiting_.push_back({std::move(job), clock::now()});
    changed_.notify_one();
    return submission::accepted;
  }
  /// Works on what waits, and takes nothing more. Not to be called by `done`.
  void close() {
    {
      auto const lock = std::lock_guard{mutex_};
      closed_ = true;
      changed_.notify_all();
    }
    auto const lock = std::lock_guard{closing_};
    for (auto& thread : threads_)
      if (thread.joinable()) thread.join();
  }

 private:
  struct queued {
    inference_job job;
    clock::time_point since;
  };

  void work(model_runner& runner) {
    for (;;) {
      auto batch = next_batch();
      if (not batch) return;
      run(runner, *batch);
      auto lock = std::unique_lock{mutex_};
      for (auto const& one : *batch)
        if (one.job.sequence) one.job.sequence->running = false;
      changed_.notify_all();
    }
  }
  /// Those that may be run together, in their order, and the rows they have.
  [[nodiscard]] auto candidates(std::size_t most) const
      -> std::pair<std::vector<std::size_t>, std::size_t> {
    auto chosen = std::vector<std::size_t>{};
    auto rows = std::size_t{0};
    auto const taken = [&](inference_job const& job) {
      return job.sequence->running || std::ranges::any_of(chosen, [&](std::size_t i) {
               return waiting_[i].job.sequence == job.sequence;
             });
    };
    for (auto i = std::size_t{0}; i < waiting_.size() && rows < most; ++i) {
      auto const& job = waiting_[i].job;
      if (job.sequence && taken(job)) continue;
      if (rows + job.rows > most) break;
      chosen.push_back(i);
      rows += job.rows;
    }
    return {std::move(chosen), rows};
  }
  /// The largest preferred size that those who wait fill; 0 where they are too few.
  [[nodiscard]] auto preferred(std::size_t rows) const -> std::size_t {
    if (rows >= options_.most_rows) return options_.most_rows;
    auto best = std::size_t{0};
    for (auto const size : options_.preferred_batch_size)
      if (size <= rows) best = std::max(best, size);
    return best;
  }
  /// Those that fit the preferred size, or all where the first of them is larger than it.
  [[nodiscard]] auto fitting(std::size_t preferred_size, std::vector<std::size_t> const& all) const
      -> std::vector<std::size_t> {
    auto some = candidates(preferred_size).first;
    return some.empty() ? all : some;
  }
  /// Nothing where the end has come.
  auto next_batch() -> std::optional<std::vector<queued>> {
    auto lock = std::unique_lock{mutex_};
    for (;;) {
      auto [chosen, rows] = candidates(options_.most_rows);
      if (chosen.empty()) {
        if (closed_ && waiting_.empty()) return std::nullopt;
        changed_.wait(lock);
        continue;
      }
      auto const until = waiting_[chosen.front()].since + options_.max_queue_delay;
      if (closed_ || clock::now() >= until) return take(chosen);
      if (auto const size = preferred(rows); size > 0) return take(fitting(size, chosen));
      changed_.wait_until(lock, until);
    }
  }
  auto take(std::vector<std::size_t> const& chosen) -> std::vector<queued> {
    auto batch = std::vector<queued>{};
    for (auto const i : chosen) {
      if (waiting_[i].job.sequence) waiting_[i].job.sequence->running = true;
      batch.push_back(std::move(waiting_[i]));
    }
    for (auto i = chosen.size(); i-- > 0;)
      waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(chosen[i]));
    return batch;
  }

  /// Why a job is not run; nothing where it is.
  [[nodiscard]] static auto obstacle(inference_job const& job) -> std::string {
    if (auto why = unwanted(job); not why.empty()) {
      if (job.sequence) job.sequence->broken = true;
      return why;
    }
    if (job.sequence && job.sequence->broken)
      return "the sequence has lost a request: begin it anew with sequence_start";
    return {};
  }
  [[nodiscard]] static auto unwanted(inference_job const& job) -> std::string {
    try {
      return job.wanted && not job.wanted() ? "nobody waits for the answer any more" : "";
    } catch (...) {
      return detail::failure_of("the request");
    }
  }
  void run(model_runner& runner, std::vector<queued>& batch) {
    auto const begun = clock::now();
    auto steps = std::vector<inference_step>{};
    auto running = std::vector<queued*>{};
    auto rows = std::size_t{0};
    for (auto& one : batch) {
      if (auto const why = obstacle(one.job); not why.empty()) {
        finish(one, {.outputs = {}, .error = why, .refused = true}, begun);
        continue;
      }
      auto step = inference_step{one.job.inputs, one.job.rows};
      if (one.job.sequence) step.state = one.job.sequence->bytes;
      steps.push_back(std::move(step));
      running.push_back(&one);
      rows += one.job.rows;
    }
    if (steps.empty()) return;
    observe(rows);
    auto const error = attempt(runner, steps);
    for (auto i = std::size_t{0}; i < running.size(); ++i) {
      auto const mine = error.empty() || steps.size() == 1
                            ? error
                            : attempt(runner, std::span{steps}.subspan(i, 1));
      if (not mine.empty() && running[i]->job.sequence) running[i]->job.sequence->broken = true;
      finish(*running[i], {.outputs = std::move(steps[i].outputs), .error = mine}, begun);
    }
  }
  /// Why it failed, or nothing. No state has changed then, so that steps may be tried one by one.
  static auto attempt(model_runner& runner, std::span<inference_step> steps) -> std::string {
    try {
      runner.run(steps);
      return {};
    } catch (...) {
      return detail::failure_of("the model");
    }
  }
  void observe(std::size_t rows) {
    if (not observe_) return;
    try {
      observe_(rows);
    } catch (...) {
      told_.of_exception("the observer of batches");
    }
  }
  void finish(queued& one, inference_result result, clock::time_point begun) {
    result.queue_seconds = std::chrono::duration<double>(begun - one.since).count();
    try {
      one.job.done(std::move(result));
    } catch (...) {
      told_.of_exception("who was told of an inference");  // the others' answers are not lost
    }
  }

  std::shared_ptr<served_model const> model_;
  batch_options options_;
  std::function<void(std::size_t)> observe_;
  std::mutex mutex_;
  std::mutex closing_;
  std::condition_variable changed_;
  std::deque<queued> waiting_;
  bool closed_ = false;
  told_once told_;
  std::vector<std::unique_ptr<model_runner>> runners_;  ///< of each thread
  std::vector<std::thread> threads_;
};

}  // namespace tessera
