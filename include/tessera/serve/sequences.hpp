// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/serve/batcher.hpp>

#include <unordered_map>

namespace tessera {

struct sequence_options {
  std::size_t most = 1024;  ///< at once; more are refused
  std::chrono::milliseconds idle_timeout{60'000};
};

/// What a request says of its sequence: Triton's sequence extension. An id is its text: 7 and "7"
/// are the same sequence; 0 and "" are none.
struct sequence_request {
  std::string id;
  bool start = false;
  bool end = false;
};

/// The states of the sequences of one model, by their ids. One that nobody has asked for
/// `idle_timeout` is forgotten.
///
/// Errors  a sequence that was not begun, was forgotten, has ended or has lost a request is not
///         found: never one of zeros
class sequence_table {
 public:
  using clock = std::chrono::steady_clock;

  sequence_table(std::shared_ptr<served_model const> model, sequence_options options)
      : model_(std::move(model)), options_(options) {}

  /// A new one, also where the id is known; nothing where there are too many.
  [[nodiscard]] auto begin(std::string const& id) -> std::shared_ptr<sequence_state> {
    auto fresh = std::make_shared<sequence_state>();
    fresh->bytes.resize(model_->state_bytes());
    model_->begin(fresh->bytes);
    auto const lock = std::lock_guard{mutex_};
    auto const now = clock::now();
    if (not known_.contains(id) && known_.size() >= options_.most) forget(now);
    if (not known_.contains(id) && known_.size() >= options_.most) return nullptr;
    known_[id] = {fresh, now};
    return fresh;
  }
  [[nodiscard]] auto find(std::string const& id) -> std::shared_ptr<sequence_state> {
    auto const lock = std::lock_guard{mutex_};
    auto const now = clock::now();
    if (now - swept_ > options_.idle_timeout / 4) forget(now);
    auto const found = known_.find(id);
    if (found == known_.end() || is_over(found->second, now)) return nullptr;
    found->second.asked = now;
    return found->second.state;
  }
  /// Whether a request that does not begin it would find it.
  [[nodiscard]] auto contains(std::string const& id) const -> bool {
    auto const lock = std::lock_guard{mutex_};
    auto const found = known_.find(id);
    return found != known_.end() && not is_over(found->second, clock::now());
  }
  /// Where it is still that one: another may have begun under the same id.
  void end(std::string const& id, std::shared_ptr<sequence_state> const& which) {
    auto const lock = std::lock_guard{mutex_};
    auto const found = known_.find(id);
    if (found != known_.end() && found->second.state == which) known_.erase(found);
  }
  /// Whatever it is, of that id.
  void drop(std::string const& id) {
    auto const lock = std::lock_guard{mutex_};
    known_.erase(id);
  }
  /// How many could go on.
  [[nodiscard]] auto open() -> std::size_t {
    auto const lock = std::lock_guard{mutex_};
    forget(clock::now());
    return known_.size();
  }
  [[nodiscard]] auto size() const -> std::size_t {
    auto const lock = std::lock_guard{mutex_};
    return known_.size();
  }

 private:
  struct entry {
    std::shared_ptr<sequence_state> state;
    clock::time_point asked;
  };
  /// One that waits for an answer is held by its request, and is not idle.
  [[nodiscard]] auto is_over(entry const& one, clock::time_point now) const -> bool {
    return one.state->broken ||
           (one.state.use_count() == 1 && now - one.asked > options_.idle_timeout);
  }
  void forget(clock::time_point now) {
    swept_ = now;
    std::erase_if(known_, [&](auto const& one) { return is_over(one.second, now); });
  }

  std::shared_ptr<served_model const> model_;
  sequence_options options_;
  mutable std::mutex mutex_;
  std::unordered_map<std::string, entry> known_;
  clock::time_point swept_ = clock::now();
};

}  // namespace tessera
