// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/data/walk_forward.hpp>
#include <tessera/program/training_settings.hpp>

#include <string>
#include <vector>

#include "forecaster.hpp"
#include "targets.hpp"

#include <tracking/loggers.hpp>

/// What the user decides: command line over config file over defaults.
namespace forecast {

using tessera::usage_error;

struct settings {
  std::string data = "sp500";
  std::string targets = "range,return";
  std::uint64_t horizon = 1;
  std::string model = "lstm-attention";
  std::uint64_t hidden = 64;
  std::uint64_t look_back = 60;
  std::uint64_t folds = 5;
  std::string split = "anchored";
  std::uint64_t train_days = 1260;
  std::uint64_t validation_days = 252;
  std::uint64_t test_days = 252;
  std::uint64_t gap = 0;
  std::uint64_t batch = 32;
  double learning_rate = 1e-3;
  std::string schedule = "cosine";
  double weight_decay = 0;
  double dropout = 0.2;
  double ridge_penalty = 10000;
  std::uint64_t seed = 1;
  double cost = 5;
  tracking::logger_settings tracking = {.loggers = "csv"};
  tessera::training_settings training = {.max_epochs = 8, .gradient_clip_val = 1};

  static void visit(auto const& f, auto& s) {
    f("data", s.data, "sp500, nasdaq, synthetic, or a CSV file of daily prices");
    f("targets", s.targets, "range, return, direction, or several: range,return");
    f("horizon", s.horizon, "days ahead", {1, 60});
    f("model", s.model, "lstm-attention, lstm-attention-4, lstm, gru, tcn or ridge");
    f("hidden", s.hidden, "width of the model: 32, 64 or 128; ridge has none");
    f("look_back", s.look_back, "days that a forecast sees", {2, 120});
    f("folds", s.folds, "of the walk forward", {1, 50});
    f("split", s.split, "anchored (training grows) or sliding (train_days long)");
    f("train_days", s.train_days, "of a sliding training part, the least of an anchored one",
      {100, 100'000});
    f("validation_days", s.validation_days, "that judge a fold", {20, 10'000});
    f("test_days", s.test_days, "at the end, which no choice may see", {20, 10'000});
    f("gap", s.gap, "days between training and what judges it; 0: the horizon", {0, 1000});
    f("batch", s.batch, "windows of a step, up to 32", {1, 32});
    f("learning_rate", s.learning_rate, "of Adam, at the start", {0, 10});
    f("schedule", s.schedule, "cosine (down to 0) or constant");
    f("weight_decay", s.weight_decay, "of Adam", {0, 1});
    f("dropout", s.dropout, "between the layers, in training", {0, 0.9});
    f("ridge_penalty", s.ridge_penalty, "of ridge: times the squared weights", {0, 1e9});
    f("seed", s.seed, "of the weights, the order of windows and a synthetic market",
      {0, 4294967295});
    f("cost", s.cost, "basis points of a change of position", {0, 1000});
    tracking::logger_settings::visit(f, s.tracking);
    tessera::training_settings::visit(f, s.training);
  }
  [[nodiscard]] auto choice() const -> model_choice {
    return {model, is_solved(model) ? 0 : hidden};
  }
  [[nodiscard]] auto fit() const -> fit_options;
  [[nodiscard]] auto splits() const -> tessera::walk_forward_settings;
  /// "range,return" as kinds, each once.
  [[nodiscard]] auto kinds() const -> std::vector<target_kind>;
};

/// Checks every value, and that the model was compiled.
///
/// Errors  usage_error, which names the option, what was expected and what came
void check(settings const& s);

/// Those that a training of this folder was made with.
///
/// Errors  usage_error for a folder without, or settings that are none; tessera::file_error
[[nodiscard]] auto settings_in(std::filesystem::path const& folder) -> settings;

/// The prices that the settings name.
///
/// Errors  price_error, tessera::file_error
[[nodiscard]] auto load_prices(settings const& s) -> price_table;

}  // namespace forecast
