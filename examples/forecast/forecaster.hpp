// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/data/batches.hpp>
#include <tessera/program/training_settings.hpp>
#include <tessera/serve/model.hpp>

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

/// The forecaster behind its types: the compiled models, chosen at run time.
namespace forecast {

/// Which of the compiled models.
struct model_choice {
  std::string kind = "lstm-attention";
  std::uint64_t hidden = 64;

  friend auto operator==(model_choice const&, model_choice const&) -> bool = default;
};

/// How a model learns.
struct fit_options {
  std::uint64_t look_back = 60;
  std::uint64_t gap = 1;  ///< days between those that are learned and those that stop a training
  std::uint64_t batch = 32;
  std::uint64_t seed = 1;
  double learning_rate = 1e-3;
  double weight_decay = 0;
  double dropout = 0.2;
  std::string schedule = "cosine";
  tessera::training_settings training = {};
  double ridge_penalty = 10000;
};

/// Where a training keeps what it goes on from, and who is told of it.
struct fit_place {
  std::filesystem::path folder = {};  ///< empty: no files
  bool resumes = false;               ///< from the checkpoint of the folder, where it has one
  tessera::callbacks callbacks = {};
};

/// Rows [begin, end) of the table of days.
struct day_range {
  std::size_t begin = 0;
  std::size_t end = 0;

  [[nodiscard]] auto size() const -> std::size_t { return end - begin; }
};

/// Features and the target of each day, both standardized; a window belongs to its last day.
using day_table = std::shared_ptr<tessera::recordings const>;

/// Trains from parameters, all numbers of a model in one order, or goes on with the checkpoint of a
/// place that resumes; what it ends with, or the best where it has patience, takes their place.
using training_function = auto (*)(day_table const& days, day_range learn, day_range watch,
                                   fit_options const& o, fit_place const& place,
                                   std::span<float> parameters) -> tessera::ending;

/// Where the model looked, on average over some days: (heads, look_back), rows of sum 1.
struct attention_map {
  std::size_t heads = 0;
  std::vector<double> weights;
};

/// How features and targets are scaled, fitted on the rows that a model learned from.
struct scaling {
  std::vector<double> feature_shift, feature_scale;
  double target_shift = 0, target_scale = 1;

  [[nodiscard]] auto feature(std::size_t column, double x) const -> float {
    return static_cast<float>((x - feature_shift[column]) / feature_scale[column]);
  }
  [[nodiscard]] auto forecast(double y) const -> double { return y * target_scale + target_shift; }
};

/// One compiled model. A virtual call does a whole training or evaluation, nothing smaller.
class forecaster {
 public:
  virtual ~forecaster() = default;
  [[nodiscard]] virtual auto parameters(std::uint64_t look_back) const -> std::size_t = 0;
  /// Trains on the windows of `learn` from the initial weights of the seed. The losses on `watch`,
  /// where it has days, are told and decide nothing. With patience, the last days of `learn`
  /// and the gap before them are not learned: they decide when to stop, and which parameters stay.
  /// `by` is how a GPU does it, nullptr the host's way.
  virtual auto train(day_table const& days, day_range learn, day_range watch, fit_options const& o,
                     fit_place const& place, training_function by) -> tessera::ending = 0;
  /// The forecast at each day of a range, whose windows begin before it.
  [[nodiscard]] virtual auto predict(day_table const& days, day_range which,
                                     std::uint64_t look_back) const -> std::vector<double> = 0;
  /// Nothing for a model without attention.
  [[nodiscard]] virtual auto attention(day_table const& days, day_range which,
                                       std::uint64_t look_back) const -> attention_map = 0;
  virtual void save(std::filesystem::path const& path,
                    std::map<std::string, std::string> const& metadata) const = 0;
  /// Errors  safetensors_error for another model's file; usage_error for a parameter that is not
  ///         finite; file_error
  virtual void load(std::filesystem::path const& path) = 0;
  /// For a server: features (rows, look_back, 15) as they are, forecasts (rows, 1) in their units.
  [[nodiscard]] virtual auto serve(scaling by, std::uint64_t look_back) const
      -> std::unique_ptr<tessera::served_model> = 0;
  /// As ONNX: x (batch, time, 15), standardized, to y (batch, 1), standardized. A ridge regression
  /// takes windows of its look-back alone.
  virtual void save_onnx(std::filesystem::path const& path,
                         std::map<std::string, std::string> const& metadata) const = 0;
};

/// Solved in closed form: such a model has no width, no seed and no epochs.
[[nodiscard]] inline auto is_solved(std::string const& kind) -> bool { return kind == "ridge"; }

/// A compiled model and what it is called.
struct compiled_model {
  char const* kind;
  std::uint64_t hidden;  ///< 0 for a model without a width
  auto (*make)() -> std::unique_ptr<forecaster>;
};
[[nodiscard]] auto compiled_models() -> std::span<compiled_model const>;

/// Errors  usage_error, which lists what was compiled
[[nodiscard]] auto make_forecaster(model_choice const& which) -> std::unique_ptr<forecaster>;

/// How a GPU trains, and whether one answers. A program that is built without CUDA has neither; a
/// model that is not among those compiled for it has no training.
struct gpu_training {
  std::function<bool()> answers;
  training_function train = nullptr;
};
[[nodiscard]] auto on_gpu(model_choice const& which) -> gpu_training;

}  // namespace forecast
