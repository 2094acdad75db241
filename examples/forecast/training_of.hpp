// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/optim/schedule.hpp>
#include <tessera/train/trainer.hpp>

#include "forecaster.hpp"
#include "models.hpp"

/// The training of a model type, on the host or on a GPU.
namespace forecast {

/// Constant, or half a cosine down to 0 over all steps.
struct run_time_schedule {
  static constexpr bool counts_steps = true;

  std::string kind;
  tessera::cosine_lr cosine;

  [[nodiscard]] auto rate(double base, std::uint64_t step) const -> double {
    return kind == "cosine" ? cosine.rate(base, step) : base;
  }
};

inline constexpr auto most = std::size_t{32};  ///< windows of a batch
template <class Backend>
using windows_on = tessera::tensor<
    float,
    tessera::shape<tessera::at_most(longest_look_back), tessera::at_most(most), features_of_a_day>,
    Backend>;
template <class Backend, class Model>
using trainer_of = tessera::trainer<tessera::training<Model, windows_on<Backend>, tessera::adam>,
                                    tessera::mse, run_time_schedule>;

/// Windows whose last day is in the range, and which begin in it.
[[nodiscard]] inline auto windows_of(day_range days, std::uint64_t look_back) -> tessera::windows {
  return {{{0, days.begin, days.end}}, look_back};
}
/// Windows whose last day is in the range.
[[nodiscard]] inline auto source_of(day_table const& days, day_range which, std::uint64_t look_back)
    -> tessera::window_batches {
  return {days, windows_of({which.begin + 1 - look_back, which.end}, look_back),
          most, true,
          0,    tessera::window_targets::last};
}

/// A training_function.
template <class Backend, class Model>
auto train_model(day_table const& days, day_range learn, day_range watch, fit_options const& o,
                 fit_place const& place, std::span<float> parameters) -> tessera::ending {
  auto options = o.training.options();
  options.seed = o.seed;
  options.dropout = static_cast<float>(o.dropout);
  options.threads = 1;  // trainings run beside each other
  options.folder = place.folder;
  if (o.training.patience > 0) {
    watch = {learn.end - learn.size() / 10, learn.end};
    learn.end = watch.begin - std::min<std::size_t>(o.gap, watch.begin - learn.begin);
  }
  auto source = tessera::window_batches(days, windows_of(learn, o.look_back), o.batch, false,
                                        o.seed, tessera::window_targets::last);
  auto const steps = options.updates_of(source.size());
  auto trainer = trainer_of<Backend, Model>(
      std::move(options), tessera::adam{.rate = o.learning_rate, .weight_decay = o.weight_decay},
      {o.schedule, {.period = steps}}, {});
  trainer.callbacks = o.training.made_callbacks();
  trainer.callbacks.insert(trainer.callbacks.end(), place.callbacks.begin(), place.callbacks.end());
  if (place.resumes && std::filesystem::exists(trainer.checkpoint_file()))
    trainer.resume();
  else
    std::ranges::copy(parameters, tessera::numbers_of(trainer.parameters()).begin());
  auto const how = [&] {
    if (watch.size() == 0) return trainer.fit(source);
    auto monitor = source_of(days, watch, o.look_back);
    return trainer.fit(source, monitor);
  }();
  auto const kept =
      tessera::numbers_of(o.training.patience > 0 ? trainer.best() : trainer.parameters());
  std::copy(kept.begin(), kept.end(), parameters.begin());
  return how;
}

}  // namespace forecast
