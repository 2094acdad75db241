// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/generate/detail/sequence.hpp>
#include <tessera/generate/lane_model.hpp>
#include <tessera/io/told_once.hpp>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace tessera::inline TESSERA_TARGET {

struct engine_options {
  std::size_t queue = 64;  ///< requests that wait while no lane is free; more are refused
  /// Told once of what `done` or a call between steps has thrown; none: standard error is.
  std::function<void(std::string const&)> warn = {};
};

/// What an engine does now, and has done.
struct engine_counts {
  std::size_t active = 0;   ///< lanes with a sequence
  std::size_t waiting = 0;  ///< requests without a lane
  std::size_t held = 0;     ///< tokens in the caches of active lanes
  std::uint64_t steps = 0;
  std::uint64_t prompt_tokens = 0;     ///< that were read
  std::uint64_t generated_tokens = 0;  ///< that were drawn
};

/// Continues many sequences with one set of weights, on a thread of its own: continuous batching.
///
/// A request waits for a lane, in the order of submission. Each step takes a token of every
/// sequence that writes, and as many of the prompts as it has rows left, the oldest first; a lane
/// is taken again as soon as its sequence has ended. What a free lane has seen is kept: a prompt
/// that begins like it, as the next turn of a chat does, is read from where they part, if the
/// model's lanes go back.
///
/// Accuracy  what a sequence says depends on its request alone: the same tokens and
///           log-probabilities in any company, and whatever of it was kept
/// Cost      a step of the model is one pass over its weights, for all lanes
/// Errors    `submit` throws std::invalid_argument for a request that cannot be run, context_error
///           for a prompt beyond the context; where the model throws, all sequences of that step
///           fail with its message, where `part` or `wanted` does, that sequence, and others go on
class engine {
 public:
  explicit engine(std::unique_ptr<lane_model> model, engine_options options = {})
      : model_(std::move(model)),
        bounds_(model_->bounds()),
        queue_(options.queue),
        told_(std::move(options.warn)) {
    if (bounds_.lanes == 0 || bounds_.rows < bounds_.lanes || bounds_.context == 0)
      throw std::invalid_argument("engine: expected a model of one lane at least, and a row each");
    lanes_.resize(bounds_.lanes);
    seen_.resize(bounds_.lanes);
    forgets_.resize(bounds_.lanes);
    for (auto& tokens : seen_) tokens.reserve(bounds_.context);  // a step allocates nothing
    thread_ = std::thread([this] { work(); });
  }
  engine(engine const&) = delete;
  auto operator=(engine const&) -> engine& = delete;
  /// Cancels what has not ended.
  ~engine() { end(true); }

  [[nodiscard]] auto bounds() const -> lane_bounds { return bounds_; }
  [[nodiscard]] auto submit(generation_request request) -> generation_ticket {
    for (auto const token : request.end_tokens)
      if (token >= bounds_.vocabulary)
        throw std::invalid_argument("end_tokens: expected tokens below " +
                                    std::to_string(bounds_.vocabulary) + ", got " +
                                    std::to_string(token));
    auto one = std::make_unique<sequence>(std::move(request), bounds_.context, bounds_.vocabulary);
    auto const lock = std::lock_guard{mutex_};
    if (closed_) return generation_ticket{admission::closed};
    // One that was cancelled waits no more, though it is dropped with the next step.
    auto const waits = [](auto const& each) { return not each->cancelled()->load(); };
    auto const before = static_cast<std::size_t>(std::ranges::count_if(waiting_, waits));
    // Free lanes are given away between steps: who comes during one waits for one of them.
    auto const free = bounds_.lanes - counts_.active;
    if (before >= free && before - free >= queue_) return generation_ticket{admission::full};
    auto ticket = generation_ticket{admission::accepted, one->cancelled()};
    waiting_.push_back(std::move(one));
    changed_.notify_one();
    return ticket;
  }
  /// Calls a function on the engine's thread, after the step that runs and before lanes are given
  /// away: what was submitted and cancelled there takes effect together, with the next step. Those
  /// of `part` and `done` are called in the order in which they came. False after the end, when
  /// nothing is called any more.
  [[nodiscard]] auto between_steps(std::function<void()> call) -> bool {
    auto const lock = std::lock_guard{mutex_};
    if (gone_) return false;
    calls_.push_back(std::move(call));
    changed_.notify_one();
    return true;
  }
  /// Nothing is kept of what lanes have seen by now: what comes next runs as in a new engine. Only
  /// for a call between steps.
  void forget() { forgets_.assign(lanes_.size(), true); }
  [[nodiscard]] auto counts() const -> engine_counts {
    auto const lock = std::lock_guard{mutex_};
    auto result = counts_;
    result.waiting = waiting_.size();
    return result;
  }
  /// Takes nothing more, and returns when all has ended. Not to be called by `part` or `done`.
  void close() { end(false); }
  /// Takes nothing more and cancels what has not ended, which the engine's thread tells each.
  void cancel() { say_end(true); }

 private:
  using sequence = detail::sequence;

  void say_end(bool cancels) {
    auto const lock = std::lock_guard{mutex_};
    closed_ = true;
    cancels_ = cancels_ || cancels;
    changed_.notify_all();
  }
  void end(bool cancels) {
    say_end(cancels);
    auto const lock = std::lock_guard{joining_};
    if (thread_.joinable()) thread_.join();
  }
  void work() {
    while (admit()) {
      choose();
      if (not parts_.empty()) run();
    }
  }
  /// Lets go of what was cancelled and gives free lanes away; false at the end.
  auto admit() -> bool {
    auto const asked = ask_all();
    auto gone = std::vector<std::unique_ptr<sequence>>{};
    auto lock = std::unique_lock{mutex_};
    auto const leaves = [&](auto const& one) { return one && (cancels_ || one->is_left()); };
    for (auto& lane : lanes_)
      if (leaves(lane)) gone.push_back(std::move(lane));
    auto ready = std::size_t{0};  // of those that wait, and were asked
    for (auto i = std::size_t{0}; i < waiting_.size(); ++i)
      if (leaves(waiting_[i]))
        gone.push_back(std::move(waiting_[i]));
      else if (i < asked)
        ++ready;
    std::erase(waiting_, nullptr);
    std::erase_if(order_, [&](std::size_t lane) { return not lanes_[lane]; });
    for (; ready > 0 && order_.size() < lanes_.size(); --ready) {
      give_lane(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    count();
    // Who is told of its end may have something to do between steps.
    auto const goes_on = not closed_ || counts_.active > 0 || not waiting_.empty() ||
                         not gone.empty() || not calls_.empty();
    gone_ = not goes_on;
    lock.unlock();
    for (auto& one : gone) {
      one->leaves();
      finish(*one);
    }
    return goes_on;
  }
  /// To the free lane where what it saves is most above what is lost of the kept, or the first.
  void give_lane(std::unique_ptr<sequence> one) {
    auto best = lanes_.size();
    auto shared = std::size_t{0};
    auto best_gain = std::ptrdiff_t{0};
    for (auto i = std::size_t{0}; i < lanes_.size(); ++i) {
      if (lanes_[i]) continue;
      if (forgets_[i]) seen_[i].clear();
      forgets_[i] = false;
      auto const same = one->shares(seen_[i]);
      auto const gain = 2 * static_cast<std::ptrdiff_t>(same) - std::ssize(seen_[i]);
      if (best != lanes_.size() && gain <= best_gain) continue;
      best = i;
      shared = same;
      best_gain = gain;
    }
    seen_[best].resize(shared);
    one->has_lane(shared);
    lanes_[best] = std::move(one);
    order_.push_back(best);
  }
  /// Waits for work, then asks all sequences whether they are wanted: without the lock, since what
  /// answers is the user's. How many wait; those that come meanwhile are asked next time.
  [[nodiscard]] auto ask_all() -> std::size_t {
    asked_.clear();
    {
      auto lock = std::unique_lock{mutex_};
      wait_for_work(lock);
      for (auto const& one : waiting_) asked_.push_back(one.get());
    }
    auto const waiting = asked_.size();
    for (auto const& lane : lanes_)
      if (lane) asked_.push_back(lane.get());
    for (auto* const one : asked_) one->ask();
    return waiting;
  }
  /// Until there is a sequence, or the end; calls what is to be called between steps.
  void wait_for_work(std::unique_lock<std::mutex>& lock) {
    for (;;) {
      changed_.wait(lock, [&] {
        return closed_ || counts_.active > 0 || not waiting_.empty() || not calls_.empty();
      });
      if (calls_.empty()) return;
      auto calls = std::exchange(calls_, {});
      lock.unlock();
      for (auto& call : calls) try {
          std::exchange(call, {})();
        } catch (...) {
          told_.of_exception("what was called between steps");
        }
      lock.lock();
    }
  }
  void count() {
    counts_.active = 0;
    counts_.held = 0;
    for (auto const& lane : lanes_) {
      counts_.active += lane ? 1 : 0;
      counts_.held += lane ? lane->seen() : 0;
    }
  }
  /// The parts of the next step: a row for all that write, the others for prompts.
  void choose() {
    parts_.clear();
    auto left = bounds_.rows;
    for (auto const& lane : lanes_)
      if (lane && not lane->reads_prompt()) --left;
    for (auto const i : order_) {
      auto const& lane = *lanes_[i];
      auto const tokens = lane.next(left);
      if (tokens.empty()) continue;
      if (lane.reads_prompt()) left -= tokens.size();
      parts_.push_back({i, lane.seen(), tokens});
    }
    std::ranges::sort(parts_, {}, &lane_tokens::lane);
  }
  void run() {
    scores_.resize(parts_.size());
    auto error = std::string{};
    try {
      model_->step(parts_, scores_);
    } catch (...) {
      error = detail::failure_of("the model");
    }
    for (auto const& part : parts_)
      if (not bounds_.goes_back || not error.empty())
        seen_[part.lane].clear();
      else
        seen_[part.lane].insert(seen_[part.lane].end(), part.tokens.begin(), part.tokens.end());
    auto read = std::uint64_t{0};
    auto drawn = std::uint64_t{0};
    auto ended = std::vector<std::size_t>{};
    for (auto i = std::size_t{0}; i < parts_.size(); ++i) {
      auto& lane = *lanes_[parts_[i].lane];
      read += lane.reads_prompt() ? parts_[i].tokens.size() : 0;
      auto const before = lane.generated();
      auto const over = error.empty() ? lane.advance(parts_[i].tokens.size(), scores_[i])
                                      : lane.ends(finish_reason::failed, error);
      drawn += lane.generated() - before;
      if (over) ended.push_back(parts_[i].lane);
    }
    release(ended, read, drawn);
  }
  /// The lanes are free before anybody is told.
  void release(std::vector<std::size_t> const& ended, std::uint64_t read, std::uint64_t drawn) {
    auto gone = std::vector<std::unique_ptr<sequence>>{};
    {
      auto const lock = std::lock_guard{mutex_};
      for (auto const lane : ended) gone.push_back(std::move(lanes_[lane]));
      ++counts_.steps;
      counts_.prompt_tokens += read;
      counts_.generated_tokens += drawn;
      count();
    }
    for (auto& one : gone) finish(*one);
  }
  void finish(sequence& one) {
    try {
      one.finish();
    } catch (...) {
      told_.of_exception("who was told of a sequence's end");
    }
  }

  std::unique_ptr<lane_model> model_;
  lane_bounds bounds_;
  std::size_t queue_;
  told_once told_;
  mutable std::mutex mutex_;
  std::mutex joining_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<sequence>> waiting_;
  engine_counts counts_;
  std::vector<std::function<void()>> calls_;
  bool closed_ = false;
  bool cancels_ = false;
  bool gone_ = false;
  // Of the thread; a lane's pointer changes under the lock.
  std::vector<std::unique_ptr<sequence>> lanes_;
  std::vector<std::vector<std::uint32_t>> seen_;  // by lanes, what their caches hold
  std::vector<bool> forgets_;                     // by lanes, when they are given away
  std::vector<std::size_t> order_;                // active lanes, the oldest sequence first
  std::vector<sequence*> asked_;
  std::vector<lane_tokens> parts_;
  std::vector<std::span<float const>> scores_;
  std::thread thread_;
};

}  // namespace tessera::inline TESSERA_TARGET
