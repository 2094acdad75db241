// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace CLI {
class App;
}

/// What the user decides: command line over config file over defaults.
namespace frequency {

/// A value that is none, by the name of its option. The program ends with code 2.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The options of a training. Those that are optional here have a default for each mode.
struct settings {
  std::string mode = "stateful";
  std::string variant = "plain";
  std::optional<std::uint64_t> length;
  std::uint64_t hidden = 64;
  std::optional<std::uint64_t> layers;
  double dropout = 0;
  std::optional<std::uint64_t> epochs;
  std::optional<std::uint64_t> batch;
  std::uint64_t truncation = 50;
  double learning_rate = 3e-3;
  std::optional<double> weight_decay;
  std::optional<double> clip_norm;
  std::string schedule = "geometric";
  std::uint64_t patience = 0;
  double min_delta = 1e-4;
  std::optional<double> validation;
  std::uint64_t seed = 1;
  std::uint64_t train_seed = 1;
  std::uint64_t test_seed = 2;
  double phase_scale = 0.01;
  std::uint64_t threads = 0;
  double checkpoint_seconds = 10;

  [[nodiscard]] auto windowed() const -> bool { return mode == "windowed"; }
  friend auto operator==(settings const&, settings const&) -> bool = default;
};

/// An option of numbers or text, read as the config file is: see read_config.
void add_option(CLI::App& app, std::string const& name, std::uint64_t& value, char const* help);
void add_option(CLI::App& app, std::string const& name, double& value, char const* help);
/// Adds an option to `app` for every setting.
void add_options(CLI::App& app, settings& s);
/// Reads a YAML file over `s`: whole numbers in decimal digits, finite numbers.
///
/// Errors  usage_error for a file that cannot be read or is no such file, an unknown key or one
/// that
///         comes twice, a value of another type
void read_config(std::string const& path, settings& s);
/// Errors  usage_error where value is not from low to high
void check_range(std::string const& name, double value, double low, double high);
void check_range(std::string const& name, std::uint64_t value, std::uint64_t low,
                 std::uint64_t high);
/// Fills in what depends on the mode and checks every value.
///
/// Errors  usage_error, which names the option, what was expected and what came
void resolve(settings& s);
/// The settings as YAML, numbers with all their digits: what --print-config prints.
[[nodiscard]] auto to_yaml(settings const& s) -> std::string;
/// The same without what changes no result: what every output folder keeps, and what a training is
/// resumed by.
[[nodiscard]] auto to_result_yaml(settings const& s) -> std::string;

}  // namespace frequency
