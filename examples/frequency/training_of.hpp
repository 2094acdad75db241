// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/train/trainer.hpp>

#include "filter.hpp"
#include "models.hpp"

/// The training of a model type, on the backend of its mode: the host's, or a GPU.
namespace frequency {

/// Constant, geometric or by plateau: decided at run time.
struct run_time_schedule {
  std::string kind;
  tessera::geometric_lr geometric;
  tessera::reduce_on_plateau plateau{.factor = 0.5, .patience = 5};

  [[nodiscard]] auto rate(double base, std::uint64_t epoch,
                          tessera::reduce_on_plateau::state const& s) const -> double {
    if (kind == "geometric") return geometric.rate(base, epoch);
    return kind == "plateau" ? tessera::reduce_on_plateau::rate(base, s) : base;
  }
  auto observe(tessera::reduce_on_plateau::state& s, double base, double measure) const -> bool {
    return kind == "plateau" && plateau.observe(s, base, measure);
  }
};

/// The types of a mode: what a chunk of a batch is, and where batches come from.
template <class Backend> struct stateful_mode_on {
  using input = tessera::tensor<float, tessera::shape<tessera::at_most(100), 4, 5>, Backend>;
  static constexpr auto chunks = std::size_t{1};

  [[nodiscard]] static auto source(std::shared_ptr<tessera::recordings const> data,
                                   std::vector<tessera::recording_part> const&, settings const& s,
                                   bool) {
    return tessera::lane_batches(std::move(data), s.truncation);
  }
};
template <class Backend> struct windowed_mode_on {
  using input =
      tessera::tensor<float, tessera::shape<tessera::at_most(100), tessera::at_most(16), 5>,
                      Backend>;
  static constexpr auto chunks = std::size_t{4};

  [[nodiscard]] static auto source(std::shared_ptr<tessera::recordings const> data,
                                   std::vector<tessera::recording_part> const& parts,
                                   settings const& s, bool in_order) {
    return tessera::window_batches(std::move(data), tessera::windows(parts, *s.length), *s.batch,
                                   in_order, s.seed);
  }
};

template <class Mode, class Model>
using training_of = tessera::training<Model, typename Mode::input, tessera::adam, Mode::chunks>;
template <class Mode, class Model>
using trainer_of = tessera::trainer<training_of<Mode, Model>, tessera::mse, run_time_schedule>;

/// Errors  usage_error, which names the parameter
template <class P> void check_finite(std::filesystem::path const& path, P const& p) {
  if (auto const found = tessera::not_finite(p))
    throw usage_error(path.string() + ": the parameter " + *found + " is not finite");
}

/// A training_function.
template <class Mode, class Model>
[[nodiscard]] auto train_model(settings const& s, std::shared_ptr<tessera::recordings const> data,
                               tessera::run_folder& run, std::string const& resume,
                               tessera::callbacks const& told, std::span<float> parameters)
    -> training_result {
  auto options = s.training.options();
  options.seed = s.seed;
  options.dropout = static_cast<float>(s.dropout);
  options.folder = run.path();
  options.model = model_name(s);
  options.settings = tessera::to_result_yaml(s);
  auto const epochs = options.max_epochs;
  auto trainer = trainer_of<Mode, Model>(
      std::move(options), tessera::adam{.rate = s.learning_rate, .weight_decay = *s.weight_decay},
      {s.schedule, {.from = epochs / 2, .to = epochs, .factor = 0.02}}, {});
  trainer.callbacks = s.training.made_callbacks();
  trainer.callbacks.insert(trainer.callbacks.end(), told.begin(), told.end());
  run.show_with_checkpoint_of(trainer);
  if (run.resumes()) {
    trainer.resume(resume);
    check_finite(trainer.checkpoint_file(), trainer.parameters());
    check_finite(trainer.checkpoint_file(), trainer.best());
  } else {
    std::ranges::copy(parameters, tessera::numbers_of(trainer.parameters()).begin());
  }
  auto const [kept, held] = tessera::hold_out(tessera::as_parts(*data), *s.validation);
  auto source = Mode::source(data, kept, s, false);
  auto monitor = Mode::source(data, held.empty() ? kept : held, s, true);
  auto const how = trainer.fit(source, monitor);
  auto const best = tessera::numbers_of(trainer.best());
  std::copy(best.begin(), best.end(), parameters.begin());
  return {how, trainer.progress()};
}

}  // namespace frequency
