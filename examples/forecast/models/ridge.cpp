// SPDX-License-Identifier: MIT
#include "../ridge.hpp"

#include <tessera/io/file.hpp>
#include <tessera/io/onnx/graph.hpp>
#include <tessera/io/safetensors.hpp>
#include <tessera/program/settings.hpp>
#include <tessera/train/interrupt.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "../served_windows.hpp"

namespace forecast {

namespace {

/// Errors  usage_error for a regression of windows of another length
void check_look_back(window_regression const& of, std::uint64_t look_back) {
  if (of.weight.size() != look_back * feature_count)
    throw tessera::usage_error("ridge: expected weights of " +
                               std::to_string(look_back * feature_count) +
                               " features, of a look-back of " + std::to_string(look_back) +
                               ", got " + std::to_string(of.weight.size()));
}

/// A regression behind a server.
class served_ridge final : public served_windows {
 public:
  served_ridge(window_regression of, scaling by, std::uint64_t look_back)
      : served_windows(look_back),
        of_(std::make_shared<window_regression const>(std::move(of))),
        by_(std::make_shared<scaling const>(std::move(by))) {}

  [[nodiscard]] auto most_rows() const -> std::size_t override { return 32; }
  [[nodiscard]] auto make_runner() const -> std::unique_ptr<tessera::model_runner> override {
    return std::make_unique<runner>(of_, by_);
  }

 private:
  class runner final : public tessera::model_runner {
   public:
    runner(std::shared_ptr<window_regression const> of, std::shared_ptr<scaling const> by)
        : of_(std::move(of)), by_(std::move(by)) {}
    void run(std::span<tessera::inference_step> steps) override {
      for (auto& step : steps) {
        auto const* from = features_of(step);
        auto forecasts = std::vector<double>{};
        for (auto row = std::size_t{0}; row < step.rows; ++row) {
          auto y = of_->bias;
          for (auto j = std::size_t{0}; j < of_->weight.size(); ++j)
            y += of_->weight[j] * static_cast<double>(by_->feature(j % feature_count, *from++));
          forecasts.push_back(by_->forecast(y));
        }
        answer(step, std::move(forecasts));
      }
    }

   private:
    std::shared_ptr<window_regression const> of_;
    std::shared_ptr<scaling const> by_;
  };

  std::shared_ptr<window_regression const> of_;
  std::shared_ptr<scaling const> by_;
};

/// The numbers of a tensor of doubles, one row of them where it has two axes.
///
/// Errors  safetensors_error for another dtype or shape
[[nodiscard]] auto numbers_of(tessera::safetensors const& file, std::string const& name,
                              std::size_t axes) -> std::vector<double> {
  auto const& entry = file[name];
  if (entry.type != tessera::dtype::f64 || entry.shape.size() != axes || entry.shape[0] != 1)
    throw tessera::safetensors_error(
        '"' + name + "\": expected F64 of a shape that begins with 1, got " +
        std::string{tessera::name_of(entry.type)} + ' ' + tessera::to_string(entry.shape));
  auto values = std::vector<double>(entry.size());
  std::memcpy(values.data(), entry.bytes.data(), entry.bytes.size());
  return values;
}

class ridge_forecaster final : public forecaster {
 public:
  [[nodiscard]] auto parameters(std::uint64_t look_back) const -> std::size_t override {
    return look_back * feature_count + 1;
  }
  auto train(day_table const& days, day_range learn, day_range, fit_options const& o,
             fit_place const&, training_function) -> tessera::ending override {
    if (tessera::interrupt_guard::requested()) return tessera::ending::interrupted;
    of_ = fit_ridge(days->front(), {0, learn.begin, learn.end}, o.look_back, o.ridge_penalty);
    return tessera::ending::finished;
  }
  [[nodiscard]] auto predict(day_table const& days, day_range which, std::uint64_t look_back) const
      -> std::vector<double> override {
    check_look_back(of_, look_back);
    auto result = std::vector<double>{};
    for (auto r = which.begin; r < which.end; ++r) result.push_back(of_.at(days->front(), r));
    return result;
  }
  [[nodiscard]] auto attention(day_table const&, day_range, std::uint64_t) const
      -> attention_map override {
    return {};
  }
  void save(std::filesystem::path const& path,
            std::map<std::string, std::string> const& metadata) const override {
    auto file = tessera::safetensors_writer{};
    file.add("weight", tessera::dtype::f64, {1, of_.weight.size()},
             std::as_bytes(std::span{of_.weight}));
    file.add("bias", tessera::dtype::f64, {1}, std::as_bytes(std::span{&of_.bias, 1}));
    for (auto const& [key, value] : metadata) file.set_metadata(key, value);
    file.write(path);
  }
  void load(std::filesystem::path const& path) override {
    auto const file = tessera::safetensors::read(path);
    if (file.tensors().size() != 2)
      throw tessera::safetensors_error("expected the tensors weight and bias, got " +
                                       std::to_string(file.tensors().size()) + " tensors");
    auto weight = numbers_of(file, "weight", 2);
    auto const bias = numbers_of(file, "bias", 1).at(0);
    auto const is_finite = [](double x) { return std::isfinite(x); };
    if (not is_finite(bias) || not std::ranges::all_of(weight, is_finite))
      throw tessera::usage_error(path.string() + ": a parameter is not finite");
    of_ = {std::move(weight), bias};
  }
  [[nodiscard]] auto serve(scaling by, std::uint64_t look_back) const
      -> std::unique_ptr<tessera::served_model> override {
    check_look_back(of_, look_back);
    return std::make_unique<served_ridge>(of_, std::move(by), look_back);
  }
  void save_onnx(std::filesystem::path const& path,
                 std::map<std::string, std::string> const& metadata) const override {
    auto const columns = static_cast<std::int64_t>(of_.weight.size());
    auto const days = columns / static_cast<std::int64_t>(feature_count);
    auto graph = tessera::onnx_graph{};
    auto const x =
        graph.input("x", tessera::onnx_type::float32, {{0, "batch"}, {days}, {feature_count}});
    auto const weight = graph.tensor("weight", {1, columns},
                                     std::vector<float>(of_.weight.begin(), of_.weight.end()));
    auto const bias = graph.tensor("bias", {1}, {static_cast<float>(of_.bias)});
    auto const flat = graph.node("Flatten", "", {x.name}, {{"axis", std::int64_t{1}}});
    auto const y = graph.node("Gemm", "", {flat[0], weight, bias}, {{"transB", std::int64_t{1}}});
    graph.result("y", {y[0], {{0, "batch"}, {1}}, tessera::onnx_type::float32});
    auto texts = tessera::onnx_texts{"forecast", metadata};
    texts.metadata.emplace("model", "forecast");
    tessera::write_file(path, graph.bytes(texts));
  }

 private:
  window_regression of_;
};

}  // namespace

auto make_ridge() -> std::unique_ptr<forecaster> { return std::make_unique<ridge_forecaster>(); }

}  // namespace forecast
