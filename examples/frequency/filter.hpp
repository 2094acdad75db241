// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/data/batches.hpp>
#include <tessera/train/callback.hpp>
#include <tessera/train/run_folder.hpp>

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>

#include "settings.hpp"

/// The filter behind its types: the compiled models, chosen at run time.
namespace frequency {

/// What a model costs, as constants of its type, in bytes.
struct cost {
  std::size_t parameters = 0;  ///< numbers
  std::size_t training = 0;    ///< parameters, moments and what all chunks of a batch need
  std::size_t inference = 0;   ///< without the parameters
  std::size_t streaming = 0;   ///< without the parameters, one sample of one signal
};

/// How a training ended.
struct training_result {
  tessera::ending how = tessera::ending::finished;
  tessera::training_progress progress;
};

/// Answers of a model to one batch: (time, lanes), in order.
struct answers {
  bool carries = false;  ///< samples follow one another, where windows overlap
  std::size_t time = 0;
  std::size_t lanes = 0;
  std::span<float const> inputs;  ///< (time, lanes, 5)
  std::span<float const> outputs;
  std::span<float const> targets;
};

/// Trains from parameters, all numbers of a model in one order, or from the checkpoint of a run
/// that resumes: "last", "best" or a file. The best ones take their place. The run is shown with
/// the first checkpoint after a step.
using training_function = auto (*)(settings const&, std::shared_ptr<tessera::recordings const>,
                                   tessera::run_folder&, std::string const& resume,
                                   tessera::callbacks const&, std::span<float> parameters)
    -> training_result;

/// One compiled model. A virtual call does a whole training or evaluation, nothing smaller.
class filter {
 public:
  virtual ~filter() = default;
  [[nodiscard]] virtual auto describe(std::ostream& to) const -> cost = 0;
  /// Trains from the initial weights of the seed, or goes on; the best parameters remain. `by` is
  /// how a GPU does it, nullptr the host's way.
  virtual auto train(std::shared_ptr<tessera::recordings const> data, tessera::run_folder& run,
                     std::string const& resume, tessera::callbacks const& told,
                     training_function by) -> training_result = 0;
  /// The initial parameters of the seed.
  virtual void initialize() = 0;
  /// All answers to a signal, batch by batch.
  virtual void predict(std::shared_ptr<tessera::recordings const> data,
                       std::function<void(answers const&)> const& receive) = 0;
  virtual void save(std::filesystem::path const& path) const = 0;
  /// Errors  file_error, safetensors_error; usage_error for a model of other settings, or with a
  ///         number that is none
  virtual void load(std::filesystem::path const& path) = 0;
  /// Samples per second, one after another, of one signal.
  [[nodiscard]] virtual auto streaming_rate(double seconds) const -> double = 0;
};

/// A compiled model and what it is called.
struct compiled_model {
  char const* mode;
  char const* variant;
  std::uint64_t hidden;
  std::uint64_t layers;
  auto (*make)(settings const&) -> std::unique_ptr<filter>;
};
[[nodiscard]] auto compiled_models() -> std::span<compiled_model const>;

/// "stateful plain 64x1": what a checkpoint calls its model.
[[nodiscard]] auto model_name(settings const& s) -> std::string;
/// The compiled model of resolved settings.
[[nodiscard]] auto make_filter(settings const& s) -> std::unique_ptr<filter>;

/// How a GPU trains, and whether one answers. A program that is built without CUDA has neither; a
/// model that is not among those compiled for it has no training.
struct gpu_training {
  std::function<bool()> answers;
  training_function train = nullptr;
};
[[nodiscard]] auto on_gpu(settings const& s) -> gpu_training;

}  // namespace frequency
