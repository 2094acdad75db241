// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/onnx.hpp>
#include <tessera/layers/transposed.hpp>
#include <tessera/optim/schedule.hpp>
#include <tessera/train/trainer.hpp>

#include "forecaster.hpp"
#include "models.hpp"
#include "served_windows.hpp"

/// A model type behind the interface of forecaster.hpp.
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

/// A forecaster behind a server: its parameters are shared, each thread has a runner.
template <class Model, class X> class served_forecaster final : public served_windows {
 public:
  using parameters_type = tessera::parameters_of<Model, tessera::owned<float>>;

  served_forecaster(std::shared_ptr<parameters_type const> p, scaling by, std::size_t look_back)
      : served_windows(look_back), parameters_(std::move(p)), by_(std::move(by)) {}

  [[nodiscard]] auto most_rows() const -> std::size_t override {
    return tessera::bound_of(tessera::shape_of<X>::extents[1]);
  }
  [[nodiscard]] auto make_runner() const -> std::unique_ptr<tessera::model_runner> override {
    return std::make_unique<runner>(*this);
  }

 private:
  class runner final : public tessera::model_runner {
   public:
    explicit runner(served_forecaster const& of)
        : parameters_(of.parameters_),
          by_(of.by_),
          time_(static_cast<std::size_t>(of.inputs()[0].shape[1])) {}
    void run(std::span<tessera::inference_step> steps) override {
      auto rows = std::size_t{0};
      for (auto const& step : steps) rows += step.rows;
      auto const x = x_->sized(time_, rows);
      auto row = std::size_t{0};
      for (auto const& step : steps) {
        auto const* from = features_of(step);
        for (auto const end = row + step.rows; row < end; ++row)
          for (auto t = std::size_t{0}; t < time_; ++t)
            for (auto c = std::size_t{0}; c < features_of_a_day; ++c)
              x(t, row, c) = by_.feature(c, *from++);
      }
      auto const y = (*object_)(*parameters_, tessera::as_const(x));
      row = 0;
      for (auto& step : steps) {
        auto forecasts = std::vector<double>{};
        for (auto const end = row + step.rows; row < end; ++row)
          forecasts.push_back(by_.forecast(static_cast<double>(y(row, 0))));
        answer(step, std::move(forecasts));
      }
    }

   private:
    std::shared_ptr<parameters_type const> parameters_;
    scaling by_;
    std::size_t time_;
    std::unique_ptr<X> x_ = std::make_unique<X>();
    std::unique_ptr<tessera::inference<Model, X>> object_ =
        std::make_unique<tessera::inference<Model, X>>();
  };

  std::shared_ptr<parameters_type const> parameters_;
  scaling by_;
};

template <class Model, std::size_t Heads = 0> class forecaster_of : public forecaster {
 public:
  [[nodiscard]] auto parameters(std::uint64_t) const -> std::size_t override {
    return tessera::parameter_count<Model>;
  }
  auto train(day_table const& days, day_range learn, day_range watch, fit_options const& o,
             fit_place const& place) -> tessera::ending override {
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
    auto const batches = options.limit_train_batches.of(source.size());
    auto const steps =
        (batches + options.accumulate_grad_batches - 1) / options.accumulate_grad_batches;
    auto const epochs = options.max_epochs;
    auto trainer = trainer_type(
        std::move(options), tessera::adam{.rate = o.learning_rate, .weight_decay = o.weight_decay},
        {o.schedule, {.period = std::max<std::uint64_t>(1, epochs * steps)}}, {});
    trainer.callbacks = o.training.made_callbacks();
    trainer.callbacks.insert(trainer.callbacks.end(), place.callbacks.begin(),
                             place.callbacks.end());
    if (place.resumes && std::filesystem::exists(trainer.checkpoint_file())) {
      trainer.resume();
    } else {
      auto generator = tessera::torch_generator(o.seed);
      Model::initialize(trainer.parameters(), generator);
    }
    auto const how = [&] {
      if (watch.size() == 0) return trainer.fit(source);
      auto monitor = source_of(days, watch, o.look_back);
      return trainer.fit(source, monitor);
    }();
    *parameters_ = o.training.patience > 0 ? trainer.best() : trainer.parameters();
    return how;
  }
  [[nodiscard]] auto predict(day_table const& days, day_range which, std::uint64_t look_back) const
      -> std::vector<double> override {
    auto source = source_of(days, which, look_back);
    auto trainer = trainer_type({}, {}, {}, {});
    auto result = std::vector<double>{};
    trainer.predict(*parameters_, source, [&](auto, auto y, auto, std::size_t) {
      for (auto const forecast : y) result.push_back(static_cast<double>(forecast));
    });
    return result;
  }
  [[nodiscard]] auto attention(day_table const& days, day_range which,
                               std::uint64_t look_back) const -> attention_map override {
    if constexpr (Heads == 0) {
      return {};
    } else {
      auto result = attention_map{Heads, std::vector<double>(Heads * look_back)};
      auto source = source_of(days, which, look_back);
      auto const slot = std::make_unique<tessera::slot<input, tessera::tensor<float, target>>>();
      auto const run = std::make_unique<looking>();
      auto const w = std::make_unique<weights>();
      for (auto b = std::size_t{0}; b < source.size(); ++b) {
        source.load(b, 0, 1, *slot);
        auto const x = slot->x.read();
        auto const n = x.template extent_of<1>();
        auto const seen = w->sized(n, look_back, look_back);
        (void)run->resume(*parameters_, x,
                          tessera::given<tessera::tag::attention_weights>(as_const(seen), seen));
        for (auto i = std::size_t{0}; i < n; ++i)
          for (auto h = std::size_t{0}; h < Heads; ++h)
            for (auto t = std::size_t{0}; t < look_back; ++t)
              result.weights[h * look_back + t] +=
                  static_cast<double>(seen(i, h, look_back - 1, t)) /
                  static_cast<double>(which.size());
      }
      return result;
    }
  }
  void save(std::filesystem::path const& path,
            std::map<std::string, std::string> const& metadata) const override {
    tessera::save_parameters(path, *parameters_, metadata);
  }
  void load(std::filesystem::path const& path) override {
    tessera::load_parameters(path, *parameters_);
  }
  [[nodiscard]] auto serve(scaling by, std::uint64_t look_back) const
      -> std::unique_ptr<tessera::served_model> override {
    return std::make_unique<served_forecaster<Model, input>>(
        std::make_shared<parameters_type const>(*parameters_), std::move(by), look_back);
  }
  void save_onnx(std::filesystem::path const& path,
                 std::map<std::string, std::string> const& metadata) const override {
    using outside = tessera::sequential<tessera::transposed_layer, tessera::named<"", Model>>;
    using batch =
        tessera::tensor<float,
                        tessera::shape<tessera::at_most(most), tessera::at_most(longest_look_back),
                                       features_of_a_day>>;
    auto const p = std::make_unique<tessera::parameters_of<outside, tessera::owned<float>>>();
    p->template get<1>() = *parameters_;
    tessera::save_onnx<outside, batch>(
        path, *p,
        tessera::onnx_options{
            .name = "forecast", .extents = {"batch", "time"}, .metadata = metadata});
  }

 private:
  static constexpr auto most = std::size_t{32};
  using time = tessera::shape<tessera::at_most(longest_look_back)>;
  using input = tessera::tensor<float, tessera::shape<tessera::at_most(longest_look_back),
                                                      tessera::at_most(most), features_of_a_day>>;
  using target = tessera::shape<tessera::at_most(most), 1>;
  using weights =
      tessera::tensor<float, tessera::shape<tessera::at_most(most), Heads == 0 ? 1 : Heads,
                                            tessera::at_most(longest_look_back),
                                            tessera::at_most(longest_look_back)>>;
  using looking =
      tessera::inference<Model, input, tessera::given_as<tessera::tag::attention_weights, weights>>;
  using parameters_type = tessera::parameters_of<Model, tessera::owned<float>>;
  using learner = tessera::training<Model, input, tessera::adam>;
  using trainer_type = tessera::trainer<learner, tessera::mse, run_time_schedule>;

  /// Windows whose last day is in the range, and which begin in it.
  [[nodiscard]] static auto windows_of(day_range days, std::uint64_t look_back)
      -> tessera::windows {
    return {{{0, days.begin, days.end}}, look_back};
  }
  /// Windows whose last day is in the range.
  [[nodiscard]] static auto source_of(day_table const& days, day_range which,
                                      std::uint64_t look_back) -> tessera::window_batches {
    return {days, windows_of({which.begin + 1 - look_back, which.end}, look_back),
            most, true,
            0,    tessera::window_targets::last};
  }

  std::unique_ptr<parameters_type> parameters_ = std::make_unique<parameters_type>();
};

template <class Model, std::size_t Heads = 0>
[[nodiscard]] auto make_forecaster_of() -> std::unique_ptr<forecaster> {
  return std::make_unique<forecaster_of<Model, Heads>>();
}

}  // namespace forecast
