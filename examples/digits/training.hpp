// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/optim/schedule.hpp>
#include <tessera/train/run_folder.hpp>
#include <tessera/train/trainer.hpp>

#include <functional>
#include <span>

#include "data.hpp"

/// The training of the denoiser, on the host or on a GPU.
namespace digits {

/// What a training is told. Its generator has drawn the first parameters; its run is shown with the
/// first checkpoint after a step.
struct training_task {
  tessera::run_folder& run;
  tessera::trainer_options options;
  double learning_rate = 0;
  std::uint64_t seed = 0;  ///< of the order
  tessera::torch_generator generator;
  tessera::callbacks callbacks;
  std::string resume;  ///< "last", "best" or a file; empty: from the first parameters
};
/// Trains from parameters, all numbers of the denoiser in one order, and leaves their average
/// there.
using training_function = auto (*)(training_task task, labelled_images const& data,
                                   std::span<float> parameters) -> tessera::ending;

/// How a GPU trains, and whether one answers: neither in a program that is built without CUDA.
struct gpu_training {
  std::function<bool()> answers;
  training_function train = nullptr;
};
[[nodiscard]] auto on_gpu() -> gpu_training;

/// A training_function; the network is the denoiser, by whatever name.
template <class Backend, class Network>
auto train_model(training_task task, labelled_images const& data, std::span<float> parameters)
    -> tessera::ending {
  using namespace tessera;
  using x = tensor<float, shape_of<images>, Backend>;
  using step_and_class = given_as<tag::condition, tensor<float, shape_of<conditions>, Backend>>;
  using object = training<Network, x, adam, 1, step_and_class>;
  using average = averaging<typename object::parameters_type>;
  using cosine = by_step<cosine_lr>;
  auto source = noisy_images(data, task.seed, task.generator);
  auto const steps = task.options.updates_of(source.size());
  auto trainer = tessera::trainer<object, mse, cosine, average>(
      std::move(task.options), adam{.rate = task.learning_rate}, cosine{{.period = steps}}, {},
      average({.decay = 0.995}));
  std::ranges::copy(parameters, numbers_of(trainer.parameters()).begin());
  trainer.callbacks = std::move(task.callbacks);
  task.run.show_with_checkpoint_of(trainer);
  if (not task.resume.empty()) trainer.resume(task.resume);
  auto const how = trainer.fit(source);
  auto const mean = numbers_of(trainer.template part<average>().average());
  std::copy(mean.begin(), mean.end(), parameters.begin());
  return how;
}

}  // namespace digits
