// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/train/summary.hpp>

#include <chrono>

#include "training_of.hpp"

/// A model type behind the interface of filter.hpp.
namespace frequency {

using stateful_mode = stateful_mode_on<tessera::default_backend>;
using windowed_mode = windowed_mode_on<tessera::default_backend>;

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
             std::string const& resume, tessera::callbacks const& told, training_function by)
      -> training_result override {
    if (not run.resumes()) initialize();
    if (by == nullptr) by = train_model<Mode, Model>;
    auto const numbers = tessera::numbers_of(*parameters_);
    return by(settings_, std::move(data), run, resume, told, {numbers.begin(), numbers.end()});
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
      receive({decltype(source)::carries,
               x.template extent_of<0>(),
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
  using trainer_type = trainer_of<Mode, Model>;
  using training_type = training_of<Mode, Model>;
  using parameters_type = typename trainer_type::parameters_type;
  static constexpr auto streams = tessera::streams<Model>;

  [[nodiscard]] static constexpr auto streaming_bytes() -> std::size_t {
    if constexpr (streams)
      return tessera::memory_of<Model, sample, tessera::call_mode::streaming>.object;
    else
      return 0;
  }
  settings settings_;
  std::unique_ptr<parameters_type> parameters_;
};

template <class Mode, class Model>
[[nodiscard]] auto make_filter_of(settings const& s) -> std::unique_ptr<filter> {
  return std::make_unique<filter_of<Mode, Model>>(s);
}

}  // namespace frequency
