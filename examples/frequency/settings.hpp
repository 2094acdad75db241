// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/program/training_settings.hpp>

#include <tracking/loggers.hpp>

/// What the user decides: command line over config file over defaults.
namespace frequency {

using tessera::usage_error;

/// The options of a training. Those that are optional here have a default for each mode.
struct settings {
  std::string mode = "stateful";
  std::string variant = "plain";
  std::optional<std::uint64_t> length;
  std::uint64_t hidden = 64;
  std::optional<std::uint64_t> layers;
  double dropout = 0;
  std::optional<std::uint64_t> batch;
  std::uint64_t truncation = 50;
  double learning_rate = 3e-3;
  std::optional<double> weight_decay;
  std::string schedule = "geometric";
  std::optional<double> validation;
  std::uint64_t seed = 1;
  std::uint64_t train_seed = 1;
  std::uint64_t test_seed = 2;
  double phase_scale = 0.01;
  tessera::training_settings training;
  tracking::logger_settings tracking;

  static void visit(auto const& f, auto& s) {
    f("mode", s.mode, "stateful (state carried over all samples) or windowed");
    f("variant", s.variant, "plain, attention (windowed only) or film");
    f("length", s.length, "samples of a window: 1 where stateful, up to 100 where windowed",
      {1, 100});
    f("hidden", s.hidden, "width of the LSTM: 64, 128 or 256");
    f("layers", s.layers, "layers of the LSTM: 1 or 2", {1, 2});
    f("dropout", s.dropout, "between the layers, in training", {0, 0.9});
    f("batch", s.batch, "windows of a step, up to 64; the four frequencies where stateful",
      {1, 64});
    f("truncation", s.truncation, "samples of a step where stateful, up to 100", {1, 100});
    f("learning_rate", s.learning_rate, "of Adam, at the start", {0, 10});
    f("weight_decay", s.weight_decay, "of Adam", {0, 1});
    f("schedule", s.schedule, "geometric (in the second half, down to 0.02), plateau or constant");
    f("validation", s.validation, "share of each frequency held out, at its end", {0, 0.5});
    f("seed", s.seed, "of the weights and the order of the windows", {0, 4294967295});
    f("train_seed", s.train_seed, "of the training signal", {0, 4294967295});
    f("test_seed", s.test_seed, "of the test signal", {0, 4294967295});
    f("phase_scale", s.phase_scale, "share of the circle that phases are drawn from", {0, 1});
    tessera::training_settings::visit(f, s.training);
    tracking::logger_settings::visit(f, s.tracking);
  }

  [[nodiscard]] auto windowed() const -> bool { return mode == "windowed"; }
  friend auto operator==(settings const&, settings const&) -> bool = default;
};

/// Fills in what depends on the mode and checks every value.
///
/// Errors  usage_error, which names the option, what was expected and what came
void resolve(settings& s);

}  // namespace frequency
