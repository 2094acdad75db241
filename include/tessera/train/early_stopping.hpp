// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/train/callback.hpp>
#include <tessera/train/state_text.hpp>

namespace tessera {

struct early_stopping_options {
  std::string monitor = "loss";
  monitor_mode mode = monitor_mode::of_score;
  double min_delta = 0;        ///< what counts as improvement
  std::uint64_t patience = 3;  ///< validations without improvement before the stop
  std::optional<double> stopping_threshold = {};    ///< good enough: stops there
  std::optional<double> divergence_threshold = {};  ///< so bad that it stops there
  /// Stops where the score is no number. The loss and what a trainer itself monitors end the fit
  /// before that, by its diverged_error.
  bool check_finite = true;
};

/// Stops a training whose score gets no better.
///
/// Errors  std::invalid_argument for a min_delta below 0, a patience of 0, and a monitor that no
///         score of the validation has
/// Source  lightning.pytorch.callbacks.EarlyStopping
class early_stopping : public callback {
 public:
  explicit early_stopping(early_stopping_options options = {}) : options_(std::move(options)) {
    if (not(options_.min_delta >= 0))
      throw std::invalid_argument("early_stopping: expected a min_delta of 0 or more, got " +
                                  described(options_.min_delta));
    if (options_.patience == 0)
      throw std::invalid_argument("early_stopping: expected a patience of 1 or more, got 0");
  }
  void on_fit_start(fit_control& fit) override {
    if (stopped_) fit.stop();
  }
  void on_validation_end(fit_control& fit, validation_report const& r) override {
    auto const& score = detail::find_score(r.scores, options_.monitor, "early_stopping");
    judge(score);
    if (stopped_) fit.stop();
  }
  /// Validations since the last improvement.
  [[nodiscard]] auto waited() const -> std::uint64_t { return waited_; }

  [[nodiscard]] auto settings() const -> std::string override {
    auto const limit = [](std::optional<double> const& x) { return x ? described(*x) : "none"; };
    return "early_stopping(" + options_.monitor + ", " + described(options_.mode) + ", " +
           described(options_.min_delta) + ", " + described(options_.patience) + ", " +
           limit(options_.stopping_threshold) + ", " + limit(options_.divergence_threshold) + ", " +
           described(options_.check_finite) + ')';
  }
  [[nodiscard]] auto state() const -> std::string override {
    return detail::state_text(best_, waited_, stopped_);
  }
  void restore(std::string const& state) override {
    auto words = detail::state_words(state);
    words.read(best_, waited_, stopped_);
    words.end();
  }

 private:
  void judge(named_score const& score) {
    auto const cost = detail::as_cost(score, options_.mode);
    auto const passes = [&](std::optional<double> const& limit, auto order) {
      return limit && order(cost, detail::as_cost({score.name, *limit, score.more_is_better},
                                                  options_.mode));
    };
    if (options_.check_finite && not std::isfinite(cost)) stopped_ = true;
    if (passes(options_.stopping_threshold, std::less{})) stopped_ = true;
    if (passes(options_.divergence_threshold, std::greater{})) stopped_ = true;
    if (cost < best_ - options_.min_delta) {
      best_ = cost;
      waited_ = 0;
    } else if (++waited_ >= options_.patience) {
      stopped_ = true;
    }
  }

  early_stopping_options options_;
  double best_ = std::numeric_limits<double>::infinity();
  std::uint64_t waited_ = 0;
  bool stopped_ = false;
};

}  // namespace tessera
