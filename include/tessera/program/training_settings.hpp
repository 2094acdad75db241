// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/program/command_line.hpp>
#include <tessera/program/device.hpp>
#include <tessera/train/early_stopping.hpp>
#include <tessera/train/model_checkpoint.hpp>

#include <optional>
#include <thread>

namespace tessera {

/// What the user of a program decides of a training, by Lightning's names: a member of the
/// program's own settings, whose `visit` calls this one.
///
///     struct settings {
///       double learning_rate = 1e-3;
///       training_settings training = {.max_epochs = 150};
///       static void visit(auto const& f, auto& s) {
///         f("learning_rate", s.learning_rate, "of Adam");
///         training_settings::visit(f, s.training);
///       }
///     };
///
/// Limits of batches are numbers of them, "20", or shares, "0.5" and "1.0".
struct training_settings {
  std::optional<std::uint64_t> max_epochs = {};
  std::optional<double> gradient_clip_val = {};
  std::uint64_t max_steps = 0;
  double max_time = 0;
  std::string gradient_clip_algorithm = "norm";
  std::uint64_t accumulate_grad_batches = 1;
  std::string limit_train_batches = "1.0";
  std::string limit_val_batches = "1.0";
  std::string overfit_batches = "0";
  std::uint64_t fast_dev_run = 0;
  std::string val_check_interval = "1.0";
  std::uint64_t check_val_every_n_epoch = 1;
  std::uint64_t num_sanity_val_steps = 2;
  std::string precision = "32";
  std::uint64_t patience = 0;
  double min_delta = 1e-4;
  std::uint64_t save_top_k = 0;
  std::uint64_t threads = 0;
  double checkpoint_seconds = 10;
  std::string device = "auto";

  /// Members without effect on the result may differ at a resume; `command` as in setting_rules.
  static void visit(auto const& f, auto& s, std::string_view command = {}) {
    auto const decides = [&](char const* name, auto& value, char const* help, double low = 0,
                             double high = 1e15) {
      f(name, value, help, setting_rules{.low = low, .high = high, .command = command});
    };
    auto const free = [&](char const* name, auto& value, char const* help, double high = 1e15) {
      f(name, value, help,
        setting_rules{.low = 0, .high = high, .changes_result = false, .command = command});
    };
    decides("max_epochs", s.max_epochs, "passes over the training data", 1, 1'000'000'000);
    decides("max_steps", s.max_steps, "updates of the parameters; 0: as the epochs have");
    free("max_time", s.max_time, "seconds; 0: no limit");
    decides("gradient_clip_val", s.gradient_clip_val, "of the gradient; 0 does not clip", 0, 1e6);
    decides("gradient_clip_algorithm", s.gradient_clip_algorithm, "norm, or value: of each number");
    decides("accumulate_grad_batches", s.accumulate_grad_batches, "batches of a step", 1, 1e9);
    decides("limit_train_batches", s.limit_train_batches, "of an epoch: a number, or a share");
    decides("limit_val_batches", s.limit_val_batches, "of a validation: a number, or a share");
    decides("overfit_batches", s.overfit_batches, "the same first ones in every epoch");
    free("fast_dev_run", s.fast_dev_run, "tries so many batches of everything, and keeps nothing");
    decides("val_check_interval", s.val_check_interval, "batches between validations, or a share");
    decides("check_val_every_n_epoch", s.check_val_every_n_epoch, "epochs between validations", 1);
    free("num_sanity_val_steps", s.num_sanity_val_steps, "batches validated before the first step");
    decides("precision", s.precision, "32, or bf16: weights rounded to 16 bits in every pass");
    decides("patience", s.patience, "validations without improvement before a stop; 0 never stops");
    decides("min_delta", s.min_delta, "what counts as improvement", 0, 1e6);
    decides("save_top_k", s.save_top_k, "checkpoints of the best validations to keep", 0, 1e9);
    free("threads", s.threads, "that share a batch, 0 for all cores; changes no result", 1024);
    free("checkpoint_seconds", s.checkpoint_seconds, "between checkpoints", 86'400);
    free("device", s.device, "auto, cpu or cuda");
  }

  /// Errors  usage_error, which names the option, for a text that is none of those it may be
  void check() const { (void)options(); }
  /// Max_epochs and gradient_clip_val are what the program has decided by now.
  [[nodiscard]] auto options() const -> trainer_options {
    check_one_of("gradient_clip_algorithm", gradient_clip_algorithm, {"norm", "value"});
    check_one_of("precision", precision, {"32", "bf16"});
    check_one_of("device", device, {"auto", "cpu", "cuda"});
    auto result = trainer_options{
        .max_steps = max_steps,
        .max_time = max_time,
        .gradient_clip_val = gradient_clip_val.value_or(0),
        .gradient_clip_algorithm = gradient_clip_algorithm,
        .accumulate_grad_batches = accumulate_grad_batches,
        .limit_train_batches = limit("limit_train_batches", limit_train_batches, false),
        .limit_val_batches = limit("limit_val_batches", limit_val_batches, false),
        .overfit_batches = limit("overfit_batches", overfit_batches, true),
        .fast_dev_run = fast_dev_run,
        .val_check_interval = limit("val_check_interval", val_check_interval, false),
        .check_val_every_n_epoch = check_val_every_n_epoch,
        .num_sanity_val_steps = num_sanity_val_steps,
        .precision = precision,
        .threads = threads > 0 ? threads : std::thread::hardware_concurrency(),
        .checkpoint_seconds = checkpoint_seconds};
    if (max_epochs) result.max_epochs = *max_epochs;
    return result;
  }
  /// Early stopping and the best checkpoints, where they are asked for.
  [[nodiscard]] auto made_callbacks() const -> callbacks {
    auto result = callbacks{};
    if (patience > 0)
      result.push_back(std::make_shared<early_stopping>(
          early_stopping_options{.min_delta = min_delta, .patience = patience}));
    if (save_top_k > 0)
      result.push_back(std::make_shared<model_checkpoint>(
          model_checkpoint_options{.save_top_k = static_cast<std::int64_t>(save_top_k)}));
    return result;
  }
  friend auto operator==(training_settings const&, training_settings const&) -> bool = default;

 private:
  [[nodiscard]] static auto limit(char const* name, std::string const& text, bool may_be_none)
      -> batch_limit {
    auto const found = batch_limit::parse(text);
    if (not found || (found->is_none() && not may_be_none))
      refuse(name, "a number of batches, as 20, or a share, as 0.5 and 1.0", text);
    return *found;
  }
};

/// Adds --resume [WHICH]: "last" where no word follows; empty where it is not given.
inline void add_resume(CLI::App& app, std::string& which) {
  app.add_option_function<std::string>(
         "--resume", [&which](std::string const& given) { which = given.empty() ? "last" : given; },
         "go on from a checkpoint: last (where no word follows), best, or a file")
      ->expected(0, 1);
}

}  // namespace tessera
