// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/io/onnx.hpp>
#include <tessera/layers/transposed.hpp>

#include "served_windows.hpp"
#include "training_of.hpp"

/// A model type behind the interface of forecaster.hpp.
namespace forecast {

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
             fit_place const& place, training_function by) -> tessera::ending override {
    auto generator = tessera::torch_generator(o.seed);
    Model::initialize(*parameters_, generator);
    auto const numbers = tessera::numbers_of(*parameters_);
    if (by == nullptr) by = train_model<tessera::default_backend, Model>;
    return by(days, learn, watch, o, place, {numbers.begin(), numbers.end()});
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
      auto const slot = std::make_unique<tessera::slot<input, forecasts>>();
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
    if (auto const found = tessera::not_finite(*parameters_))
      throw tessera::usage_error(path.string() + ": the parameter " + *found + " is not finite");
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
  using input = windows_on<tessera::default_backend>;
  using forecasts = tessera::tensor<float, tessera::shape<tessera::at_most(most), 1>>;
  using weights =
      tessera::tensor<float, tessera::shape<tessera::at_most(most), Heads == 0 ? 1 : Heads,
                                            tessera::at_most(longest_look_back),
                                            tessera::at_most(longest_look_back)>>;
  using looking =
      tessera::inference<Model, input, tessera::given_as<tessera::tag::attention_weights, weights>>;
  using parameters_type = tessera::parameters_of<Model, tessera::owned<float>>;
  using trainer_type = trainer_of<tessera::default_backend, Model>;

  std::unique_ptr<parameters_type> parameters_ = std::make_unique<parameters_type>();
};

template <class Model, std::size_t Heads = 0>
[[nodiscard]] auto make_forecaster_of() -> std::unique_ptr<forecaster> {
  return std::make_unique<forecaster_of<Model, Heads>>();
}

}  // namespace forecast
