// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

/// Where a training tells of itself by name: scalars, histograms, pictures, texts, settings.
namespace tessera {

/// What a setting may be: whole numbers are written as such, and so are yes and no.
using setting_value = std::variant<bool, std::int64_t, double, std::string>;

struct named_setting {
  std::string name;
  setting_value value;
};

struct named_value {
  std::string name;
  double value = 0;
};

/// A run, as loggers are told of it once.
struct run_info {
  std::string name = {};            ///< "forecast-3"
  std::string project = "tessera";  ///< an experiment of MLflow
  std::string group = {};           ///< runs that belong together, as the folds of one model
  std::vector<std::string> tags = {};
  std::vector<named_setting> settings = {};
  std::chrono::system_clock::time_point started = std::chrono::system_clock::now();
};

enum class run_state { finished, failed, stopped };

/// When something was logged: at which step of the training, and at what time.
struct moment {
  std::uint64_t step = 0;
  std::chrono::system_clock::time_point time = std::chrono::system_clock::now();

  moment(std::uint64_t s) : step(s) {}  // NOLINT(google-explicit-constructor): a step is enough
  moment(std::uint64_t s, std::chrono::system_clock::time_point t) : step(s), time(t) {}
};

/// A picture as a PNG file's bytes.
struct png_image {
  std::span<std::byte const> bytes;
  std::uint32_t width = 0;
  std::uint32_t height = 0;
};

/// Thrown by a logger that may have more luck later, as where a server is down. The same call is
/// made again, so that it must have left nothing behind which the second would repeat.
struct try_again : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One place that a run is logged to. What a format cannot hold is passed over.
///
/// Not for several threads at once, interrupt() excepted. A logger on its own throws what goes
/// wrong; a logger_group serves any number of them so that no training notices.
struct logger {
  logger() = default;
  logger(logger const&) = delete;
  auto operator=(logger const&) -> logger& = delete;
  virtual ~logger() = default;

  /// What warnings call it.
  [[nodiscard]] virtual auto title() const -> std::string = 0;
  /// Comes first, once.
  virtual void begin(run_info const& /*run*/) {}
  virtual void scalars(moment /*when*/, std::span<named_value const> /*values*/) {}
  virtual void histogram(moment /*when*/, std::string_view /*name*/,
                         std::span<float const> /*values*/) {}
  virtual void image(moment /*when*/, std::string_view /*name*/, png_image const& /*picture*/) {}
  virtual void text(moment /*when*/, std::string_view /*name*/, std::string_view /*words*/) {}
  /// Settings besides those of the run, and figures by which runs are compared.
  virtual void hyperparameters(std::span<named_setting const> /*settings*/,
                               std::span<named_value const> /*metrics*/) {}
  /// What was held back goes out.
  virtual void flush() {}
  /// Comes last, once.
  virtual void finish(run_state /*state*/) {}
  /// Called from another thread: a call that waits should give up soon, by throwing.
  virtual void interrupt() noexcept {}
};

}  // namespace tessera
