// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/track/logger.hpp>
#include <tessera/train/callback.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tessera {

struct training_logger_options {
  std::uint64_t histograms_every_n_epochs = 1;  ///< 0 for none
};

/// Gives a logger what a training logs by name (train_loss, val_loss, learning_rate, ...), at its
/// steps; epoch and train_loss_epoch at the end of each epoch; and weights/<path> and
/// gradients/<path> as histograms, of the first step of every n-th epoch.
///
///     auto runs = std::make_shared<logger_group>();
///     runs->add(std::make_unique<tensorboard_logger>("runs"));
///     runs->begin({.name = "filter"});
///     trainer.callbacks.push_back(std::make_shared<training_logger>(runs));
///     ...
///     runs->finish(run_state::finished);
///
/// Cost  what the logger takes; a copy of all parameters for a histogram
class training_logger : public callback {
 public:
  explicit training_logger(std::shared_ptr<logger> target, training_logger_options options = {})
      : target_(std::move(target)), options_(options) {}

  void on_train_epoch_start(fit_control& fit, std::uint64_t) override {
    auto const every = options_.histograms_every_n_epochs;
    wants_histograms_ = every > 0 && (fit.progress().epoch + 1) % every == 0;
  }
  void on_optimizer_step(fit_control&, step_report const& r) override {
    if (not std::exchange(wants_histograms_, false) || not r.for_each) return;
    r.for_each([&](std::string_view path, numbers_view weights, numbers_view gradients) {
      add_histogram(r.step, "weights/", path, weights);
      add_histogram(r.step, "gradients/", path, gradients);
    });
  }
  void on_train_epoch_end(fit_control& fit, epoch_report const& r) override {
    auto const values = std::vector<named_value>{{"epoch", static_cast<double>(r.epoch)},
                                                 {"train_loss_epoch", r.training_loss}};
    target_->scalars(fit.progress().updates, values);
  }
  void on_log(fit_control&, log_report const& r) override {
    auto values = std::vector<named_value>{};
    for (auto const& [name, value] : r.numbers) values.push_back({std::string{name}, value});
    target_->scalars(r.step, values);
  }

 private:
  void add_histogram(std::uint64_t step, char const* prefix, std::string_view path,
                     numbers_view numbers) {
    values_.clear();
    for (auto i = std::size_t{0}; i < numbers.size(); ++i)
      values_.push_back(static_cast<float>(numbers[i]));
    target_->histogram(step, prefix + std::string{path}, values_);
  }

  std::shared_ptr<logger> target_;
  training_logger_options options_;
  bool wants_histograms_ = false;
  std::vector<float> values_;
};

}  // namespace tessera
