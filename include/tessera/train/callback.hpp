// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/train/log.hpp>
#include <tessera/train/options.hpp>
#include <tessera/train/progress.hpp>

#include <exception>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <vector>

/// What others learn of a training while it goes on, and what they may ask of it.
namespace tessera {

enum class ending { finished, stopped_early, out_of_time, interrupted };

/// Numbers of one tensor, whatever their scalar type: valid as long as the call that gives it.
class numbers_view {
 public:
  numbers_view() = default;
  numbers_view(float const* data, std::size_t size) : floats_(data), size_(size) {}
  numbers_view(double const* data, std::size_t size) : doubles_(data), size_(size) {}
  [[nodiscard]] auto size() const -> std::size_t { return size_; }
  [[nodiscard]] auto operator[](std::size_t i) const -> double {
    return floats_ != nullptr ? static_cast<double>(floats_[i]) : doubles_[i];
  }

 private:
  float const* floats_ = nullptr;
  double const* doubles_ = nullptr;
  std::size_t size_ = 0;
};
using parameter_visitor = std::function<void(std::string_view, numbers_view, numbers_view)>;

/// A batch that was trained on.
struct batch_report {
  std::uint64_t epoch = 0;    ///< counted from 1
  std::uint64_t batch = 0;    ///< of this epoch, counted from 1
  std::uint64_t batches = 0;  ///< of this epoch
  double loss = 0;            ///< of this batch, in this process
};

/// A step: one update of the parameters.
struct step_report {
  std::uint64_t step = 0;  ///< counted from 1, over all epochs
  double rate = 0;
  double loss = 0;           ///< the mean over its batches' terms
  double gradient_norm = 0;  ///< before clipping
  bool is_logged = false;    ///< every log_every_n_steps
  /// Calls f(name, values, gradient) for every parameter; the gradient as the optimizer took it.
  ///
  /// Errors  std::logic_error after an evaluation or prediction, which takes its memory
  std::function<void(parameter_visitor const&)> for_each = {};
};

/// The scores of a validation; "loss" is the first of them.
struct validation_report {
  std::uint64_t epoch = 0;  ///< counted from 1
  std::uint64_t step = 0;
  std::vector<named_score> scores = {};
  bool best = false;
};

struct logged_number {
  std::string_view name;
  double value = 0;
};
/// Numbers by name for whoever logs: train_loss, gradient_norm, val_<score>, test_<score>, and what
/// callbacks log.
struct log_report {
  std::uint64_t epoch = 0;  ///< counted from 0
  std::uint64_t step = 0;
  std::span<logged_number const> numbers = {};
};

/// What a callback may ask of the training that calls it.
class fit_control {
 public:
  fit_control() = default;
  fit_control(fit_control const&) = delete;
  auto operator=(fit_control const&) -> fit_control& = delete;
  virtual ~fit_control() = default;

  [[nodiscard]] virtual auto options() const -> trainer_options const& = 0;
  [[nodiscard]] virtual auto progress() const -> training_progress const& = 0;
  /// The training ends with the step that is being done; the epoch ends there.
  virtual void stop() = 0;
  /// To on_log of all callbacks.
  virtual void log(std::string_view name, double value) = 0;
  /// Writes a checkpoint that can be resumed; only from between_steps.
  virtual void save(std::filesystem::path const& file) = 0;
  /// The trainer's own checkpoint is written after between_steps, whatever the time.
  virtual void request_checkpoint() = 0;
};

/// Told of a training at its boundaries, in the order of the trainer's list. What it throws ends
/// the training. One that remembers anything has a state, which checkpoints keep.
///
/// Cost  virtual calls; reports allocate nothing for a step
struct callback {
  callback() = default;
  callback(callback const&) = delete;
  auto operator=(callback const&) -> callback& = delete;
  virtual ~callback() = default;

  virtual void on_fit_start(fit_control&) {}  ///< a state that was resumed is there
  virtual void on_train_epoch_start(fit_control&, std::uint64_t /*batches*/) {}
  virtual void on_train_batch_end(fit_control&, batch_report const&) {}
  virtual void on_optimizer_step(fit_control&, step_report const&) {}
  virtual void on_validation_start(fit_control&) {}
  virtual void on_validation_end(fit_control&, validation_report const&) {}
  virtual void on_train_epoch_end(fit_control&, epoch_report const&) {}
  /// After a step and all that follows it: only here is a checkpoint one that can be resumed.
  virtual void between_steps(fit_control&) {}
  virtual void on_checkpoint(fit_control&) {}  ///< the trainer's own was written
  virtual void on_log(fit_control&, log_report const&) {}
  virtual void on_test_end(fit_control&, std::vector<named_score> const&) {}
  virtual void on_fit_end(fit_control&, ending) {}
  virtual void on_exception(fit_control&, std::exception const&) {}

  /// Who it is and what decides its answers: others are refused at a resume. Empty: no state.
  [[nodiscard]] virtual auto settings() const -> std::string { return {}; }
  [[nodiscard]] virtual auto state() const -> std::string { return {}; }
  /// Errors  std::invalid_argument for a text that is no state
  virtual void restore(std::string const& /*state*/) {}
  /// The folder within the trainer's where it alone keeps files; empty: it keeps none there.
  [[nodiscard]] virtual auto own_folder() const -> std::string { return {}; }
  /// The file that a state holds for the best, within the folder; empty where there is none.
  [[nodiscard]] virtual auto best_file(std::string const& /*state*/) const -> std::string {
    return {};
  }
};
using callbacks = std::vector<std::shared_ptr<callback>>;

/// Which way a score gets better: the way that it says itself, or one of two.
enum class monitor_mode { of_score, min, max };

namespace detail {

/// The score of this name.
///
/// Errors  std::invalid_argument, which lists those that are there
[[nodiscard]] inline auto find_score(std::vector<named_score> const& scores,
                                     std::string const& name, char const* who)
    -> named_score const& {
  auto known = std::string{};
  for (auto const& score : scores) {
    if (score.name == name) return score;
    known += (known.empty() ? "" : ", ") + score.name;
  }
  throw std::invalid_argument(std::string{who} + ": expected a monitor of " + known + ", got " +
                              name);
}
/// The value, less being better.
[[nodiscard]] inline auto as_cost(named_score const& score, monitor_mode mode) -> double {
  auto const more =
      mode == monitor_mode::of_score ? score.more_is_better : mode == monitor_mode::max;
  return more ? -score.value : score.value;
}

/// Calls f(key, callback) for those that have a state, by the name of it in a checkpoint.
void each_state(callbacks const& all, auto const& f) {
  auto index = 0;
  for (auto const& one : all)
    if (not one->settings().empty()) f("callback." + std::to_string(index++), *one);
}
[[nodiscard]] inline auto settings_of(callbacks const& all) -> std::string {
  auto text = std::string{};
  each_state(all, [&](std::string const&, callback const& one) { text += one.settings() + ' '; });
  return text;
}
/// Errors  std::invalid_argument where two would take each other's files away
inline void check_folders(callbacks const& all) {
  auto taken = std::set<std::string>{};
  for (auto const& one : all)
    if (auto const name = one->own_folder(); not name.empty() && not taken.insert(name).second)
      throw std::invalid_argument(
          "trainer: expected callbacks that keep files in folders of their own, got two of \"" +
          name + '"');
}
/// The states that a checkpoint has; all of them come from it, or none.
///
/// Errors  std::exception where one is missing or none
inline void restore_states(callbacks const& all, std::map<std::string, std::string> const& found) {
  auto before = std::map<std::string, std::string>{};
  each_state(all, [&](std::string const& key, callback const& one) { before[key] = one.state(); });
  try {
    each_state(all, [&](std::string const& key, callback& one) { one.restore(found.at(key)); });
  } catch (...) {
    each_state(all, [&](std::string const& key, callback& one) { one.restore(before.at(key)); });
    throw;
  }
}
/// The best file by the states of a checkpoint: of the first callback that keeps one.
[[nodiscard]] auto best_file_of(callbacks const& all, auto const& found) -> std::string {
  auto name = std::string{};
  each_state(all, [&](std::string const& key, callback const& one) {
    auto const state = found.find(key);
    if (name.empty() && state != found.end()) name = one.best_file(state->second);
  });
  return name;
}

}  // namespace detail

}  // namespace tessera
