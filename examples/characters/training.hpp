// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/data/tokens.hpp>
#include <tessera/optim/schedule.hpp>
#include <tessera/random/torch.hpp>
#include <tessera/train/run_folder.hpp>
#include <tessera/train/trainer.hpp>

#include <functional>
#include <span>

#include "text.hpp"

/// The training of the model, on the host or on a GPU.
namespace characters {

/// What a training is told. Its generator has drawn the first parameters; its run is shown with the
/// first checkpoint after a step.
struct training_task {
  tessera::run_folder& run;
  tessera::trainer_options options;
  double learning_rate = 0;
  tessera::torch_generator generator;
  tessera::callbacks callbacks;
  std::string resume;  ///< "last", "best" or a file; empty: from the first parameters
};
/// Trains from parameters, all numbers of the model in one order, and leaves the last ones there.
using training_function = auto (*)(training_task task, split_text const& text,
                                   std::span<float> parameters) -> tessera::ending;

/// How a GPU trains, and whether one answers: neither in a program that is built without CUDA.
struct gpu_training {
  std::function<bool()> answers;
  training_function train = nullptr;
};
[[nodiscard]] auto on_gpu() -> gpu_training;

/// A training_function; the network is the model, by whatever name.
template <class Backend, class Network>
auto train_model(training_task task, split_text const& text, std::span<float> parameters)
    -> tessera::ending {
  using namespace tessera;
  using x = tensor<float, shape_of<text_batch>, Backend>;
  using schedule = by_step<one_cycle_lr>;
  auto const rows = token_rows{.length = context, .batch = batch};
  // The steps decide how many epochs there are, of 200 steps each, or as many as limits leave.
  auto const steps = task.options.max_steps;
  auto const batches = 200 * task.options.accumulate_grad_batches;
  auto one_epoch = task.options;
  one_epoch.max_epochs = 1;
  auto const steps_of_epoch = one_epoch.updates_of(batches);
  task.options.max_epochs = (steps + steps_of_epoch - 1) / steps_of_epoch;
  auto source =
      random_tokens(text.train, rows, task.options.max_epochs * batches, batches, task.generator);
  auto held_out = consecutive_tokens(text.held_out, rows);
  auto trainer = tessera::trainer<training<Network, x, adamw>, cross_entropy, schedule>(
      std::move(task.options), adamw{.rate = task.learning_rate, .weight_decay = 0.01},
      schedule{one_cycle_lr{.total = steps, .rise = 0.05}}, {});
  std::ranges::copy(parameters, numbers_of(trainer.parameters()).begin());
  trainer.callbacks = std::move(task.callbacks);
  task.run.show_with_checkpoint_of(trainer);
  if (not task.resume.empty()) trainer.resume(task.resume);
  auto const how = trainer.fit(source, held_out);
  auto const last = numbers_of(trainer.parameters());
  std::copy(last.begin(), last.end(), parameters.begin());
  return how;
}

}  // namespace characters
