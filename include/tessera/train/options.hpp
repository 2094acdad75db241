// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/train/limits.hpp>

#include <cmath>
#include <filesystem>
#include <map>

namespace tessera {

/// The numbers of a training that are no part of its types, by the names that Lightning gives them.
struct trainer_options {
  std::uint64_t max_epochs = 10;
  std::uint64_t max_steps = 0;   ///< updates of the parameters; 0: as many as the epochs have
  double max_time = 0;           ///< seconds of one call of fit; 0: no limit
  std::uint64_t seed = 0;        ///< of dropout; the source has its own for the order
  float dropout = 0;             ///< of layers whose probability is decided at run time
  double gradient_clip_val = 0;  ///< 0 does not clip
  std::string gradient_clip_algorithm = "norm";  ///< or "value", of every number of the gradient
  std::uint64_t accumulate_grad_batches = 1;     ///< to one step; fewer at the end of an epoch
  batch_limit limit_train_batches = 1.0;
  batch_limit limit_val_batches = 1.0;
  batch_limit overfit_batches = 0;       ///< the same first ones in every epoch, in one order
  std::uint64_t fast_dev_run = 0;        ///< so many batches, once, without any file; 0: a real run
  batch_limit val_check_interval = 1.0;  ///< validations within an epoch, besides that at its end
  std::uint64_t check_val_every_n_epoch = 1;  ///< the last epoch is validated in any case
  std::uint64_t num_sanity_val_steps = 2;     ///< batches validated before the first step
  std::uint64_t log_every_n_steps = 50;       ///< steps whose numbers are logged
  std::string precision = "32";       ///< or "bf16": passes read the weights rounded to bf16
  std::size_t threads = 1;            ///< changes no bit
  std::filesystem::path folder = {};  ///< of checkpoint and logs, made by fit; empty: no files
  double checkpoint_seconds = 10;     ///< between checkpoints; 0 writes one after every step
  std::string model = {};             ///< the name in the checkpoint: another is refused
  std::string settings = {};  ///< "name: value" lines, kept in the checkpoint: others are refused
  std::uint64_t stop_after_batches = 0;  ///< leaves as an interrupt would; 0: never
  std::string monitor = {};              ///< the score that decides what is best; empty: the loss

  /// Errors  std::invalid_argument, which names the option
  void check() const {
    auto const require = [](bool holds, char const* what, auto const& got) {
      if (not holds)
        throw std::invalid_argument(std::string{"trainer: expected "} + what + ", got " +
                                    described(got));
    };
    auto const is_length = [](double x) { return x >= 0 && not std::isnan(x); };
    require(max_epochs > 0, "at least one epoch", max_epochs);
    require(is_length(max_time), "a max_time of 0 seconds or more", max_time);
    require(dropout >= 0 && dropout < 1, "a dropout from 0 and below 1", dropout);
    require(is_length(gradient_clip_val), "a gradient_clip_val of 0 or more", gradient_clip_val);
    require(gradient_clip_algorithm == "norm" || gradient_clip_algorithm == "value",
            "a gradient_clip_algorithm of norm or value", gradient_clip_algorithm);
    require(accumulate_grad_batches > 0, "an accumulate_grad_batches of 1 or more",
            accumulate_grad_batches);
    require(not limit_train_batches.is_none(), "a limit_train_batches above 0",
            limit_train_batches);
    require(not limit_val_batches.is_none(),
            "a limit_val_batches above 0 (fit without a second source does not validate)",
            limit_val_batches);
    require(not val_check_interval.is_none(), "a val_check_interval above 0", val_check_interval);
    require(check_val_every_n_epoch > 0, "a check_val_every_n_epoch of 1 or more",
            check_val_every_n_epoch);
    require(log_every_n_steps > 0, "a log_every_n_steps of 1 or more", log_every_n_steps);
    require(precision == "32" || precision == "bf16", "a precision of 32 or bf16", precision);
  }
  /// What a training that goes on must have in common with this one, by name.
  [[nodiscard]] auto facts() const -> std::map<std::string, std::string> {
    return {{"model", model},
            {"dropout", described(dropout)},
            {"gradient_clip_val", described(gradient_clip_val)},
            {"gradient_clip_algorithm", gradient_clip_algorithm},
            {"accumulate_grad_batches", described(accumulate_grad_batches)},
            {"overfit_batches", overfit_batches.text()},
            {"limit_val_batches", limit_val_batches.text()},
            {"val_check_interval", val_check_interval.text()},
            {"check_val_every_n_epoch", described(check_val_every_n_epoch)},
            {"precision", precision},
            {"monitor", monitor},
            {"callbacks", ""}};
  }
  /// Updates of the parameters by epochs of so many batches each: what a schedule of steps counts
  /// to.
  [[nodiscard]] auto updates_of(std::uint64_t batches) const -> std::uint64_t {
    auto const meant = resolved();
    auto const together = std::max(meant.accumulate_grad_batches, std::uint64_t{1});
    auto const each = (meant.limit_train_batches.of(batches) + together - 1) / together;
    auto const all = std::max(each * meant.max_epochs, std::uint64_t{1});
    return meant.max_steps > 0 ? std::min(all, meant.max_steps) : all;
  }
  /// What is meant: fast_dev_run and overfit_batches as the limits that they stand for.
  [[nodiscard]] auto resolved() const -> trainer_options {
    auto result = *this;
    if (not overfit_batches.is_none()) {
      result.limit_train_batches = overfit_batches;
      result.limit_val_batches = overfit_batches;
    }
    if (fast_dev_run == 0) return result;
    result.limit_train_batches = fast_dev_run;
    result.limit_val_batches = fast_dev_run;
    result.max_epochs = 1;
    result.val_check_interval = 1.0;
    result.check_val_every_n_epoch = 1;
    result.num_sanity_val_steps = 0;
    result.folder.clear();
    return result;
  }
};

}  // namespace tessera
