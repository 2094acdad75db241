// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/train/summary.hpp>
#include <tessera/train/trainer.hpp>

#include <chrono>

#include "filter.hpp"
#include "models.hpp"

/// A model type behind the interface of filter.hpp.
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
struct stateful_mode {
  using input = tessera::tensor<float, tessera::shape<tessera::at_most(100), 4, 5>>;
  static constexpr auto chunks = std::size_t{1};

  [[nodiscard]] static auto source(std::shared_ptr<tessera::recordings const> data,
                                   std::vector<tessera::recording_part> const&, settings const& s,
                                   bool) {
    return tessera::lane_batches(std::move(data), s.truncation);
  }
};
struct windowed_mode {
  using input =
      tessera::tensor<float, tessera::shape<tessera::at_most(100), tessera::at_most(16), 5>>;
  static constexpr auto chunks = std::size_t{4};

  [[nodiscard]] static auto source(std::shared_ptr<tessera::recordings const> data,
                                   std::vector<tessera::recording_part> const& parts,
                                   settings const& s, bool in_order) {
    return tessera::window_batches(std::move(data), tessera::windows(parts, *s.length), *s.batch,
                                   in_order, s.seed);
  }
};

template <class Mode, class Model> class filter_of : public filter {
 public:
  explicit filter_of(settings const& s)
      : settings_(s), parameters_(std::make_unique<parameters_type>()) {}

  auto describe(std::ostream& to) const -> cost override {
    tessera::print_summary<Model, input>(to);
    constexpr auto training = sizeof(training_type);
    constexpr auto inference =
        tessera::memory_of<Model, input, tessera::call_mode::inference>.object;
    return {tessera::parameter_count<Model>, training, inference, streaming_bytes()};
  }
  auto train(std::shared_ptr<tessera::recordings const> data, tessera::run_folder& run,
             std::string const& resume, tessera::callbacks const& told)
      -> training_result override {
    auto options = settings_.training.options();
    options.seed = settings_.seed;
    options.dropout = static_cast<float>(settings_.dropout);
    options.folder = run.path();
    options.model = model_name(settings_);
    options.settings = tessera::to_result_yaml(settings_);
    auto const epochs = options.max_epochs;
    auto trainer = trainer_type(
        std::move(options),
        tessera::adam{.rate = settings_.learning_rate, .weight_decay = *settings_.weight_decay},
        {settings_.schedule, {.from = epochs / 2, .to = epochs, .factor = 0.02}}, {});
    trainer.callbacks = settings_.training.made_callbacks();
    trainer.callbacks.insert(trainer.callbacks.end(), told.begin(), told.end());
    trainer.on_checkpoint = [&] {
      if (trainer.progress().step == 0) return;
      run.show();
      trainer.move_to(run.path());
    };
    if (run.resumes()) {
      trainer.resume(resume);
      check_finite(trainer.checkpoint_file(), trainer.parameters());
      check_finite(trainer.checkpoint_file(), trainer.best());
    } else {
      initialize();
      trainer.parameters() = *parameters_;
    }
    auto const [kept, held] = tessera::hold_out(tessera::as_parts(*data), *settings_.validation);
    auto source = Mode::source(data, kept, settings_, false);
    auto monitor = Mode::source(data, held.empty() ? kept : held, settings_, true);
    auto const how = trainer.fit(source, monitor);
    *parameters_ = trainer.best();
    return {how, trainer.progress()};
  }
  void initialize() override {
    auto generator = tessera::torch_generator(settings_.seed);
    *parameters_ = {};
    Model::initialize(*parameters_, generator);
  }
  void predict(std::shared_ptr<tessera::recordings const> data,
               std::function<void(answers const&)> const& receive) override {
    auto source = Mode::source(data, tessera::as_parts(*data), settings_, true);
    auto trainer = trainer_type({.threads = settings_.training.options().threads}, {}, {}, {});
    trainer.predict(*parameters_, source, [&](auto x, auto y, auto target, std::size_t) {
      receive({x.template extent_of<0>(),
               x.template extent_of<1>(),
               {x.data(), x.size()},
               {y.data(), y.size()},
               {target.data(), target.size()}});
    });
  }
  void save(std::filesystem::path const& path) const override {
    tessera::save_parameters(path, *parameters_,
                             {{"settings", tessera::to_result_yaml(settings_)}});
  }
  void load(std::filesystem::path const& path) override {
    auto const file = tessera::safetensors::read(path);
    if (auto const found = file.metadata().find("settings"); found != file.metadata().end())
      if (auto const difference =
              tessera::settings_difference(tessera::to_result_yaml(settings_), found->second);
          not difference.empty())
        throw usage_error(path.string() +
                          ": is of another training than settings.yaml: " + difference);
    try {
      tessera::load_parameters(file, *parameters_);
    } catch (tessera::safetensors_error const& e) {
      throw usage_error(path.string() + ": " + e.what());
    }
    check_finite(path, *parameters_);
  }
  [[nodiscard]] auto streaming_rate(double seconds) const -> double override {
    if constexpr (streams) {
      using clock = std::chrono::steady_clock;
      auto const run = std::make_unique<tessera::streaming<Model, sample>>();
      run->state = {};
      using stream_parameters = tessera::parameters_of<Model, tessera::packed<float>>;
      auto const weights = std::make_unique<stream_parameters>();
      tessera::pack_parameters(*parameters_, *weights);
      auto x = sample{};
      auto steps = std::size_t{0};
      auto const begin = clock::now();
      auto passed = 0.0;
      for (; passed < seconds; steps += 1000) {
        for (auto i = 0; i < 1000; ++i) {
          x.data()[0] = 0.5F - x.data()[0];
          (void)run->step(*weights, x);
        }
        passed = std::chrono::duration<double>(clock::now() - begin).count();
      }
      return static_cast<double>(steps) / passed;
    } else {
      return 0;
    }
  }

 private:
  using input = typename Mode::input;
  using sample = tessera::tensor<float, tessera::shape<1, 5>>;
  using training_type = tessera::training<Model, input, tessera::adam, Mode::chunks>;
  using parameters_type = typename training_type::parameters_type;
  using trainer_type = tessera::trainer<training_type, tessera::mse, run_time_schedule>;
  static constexpr auto streams = tessera::streams<Model>;

  [[nodiscard]] static constexpr auto streaming_bytes() -> std::size_t {
    if constexpr (streams)
      return tessera::memory_of<Model, sample, tessera::call_mode::streaming>.object;
    else
      return 0;
  }
  static void check_finite(std::filesystem::path const& path, parameters_type const& p) {
    if (auto const found = tessera::not_finite(p))
      throw usage_error(path.string() + ": the parameter " + *found + " is not finite");
  }
  settings settings_;
  std::unique_ptr<parameters_type> parameters_;
};

template <class Mode, class Model>
[[nodiscard]] auto make_filter_of(settings const& s) -> std::unique_ptr<filter> {
  return std::make_unique<filter_of<Mode, Model>>(s);
}

}  // namespace frequency
