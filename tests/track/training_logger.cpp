// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/data/tensor_batches.hpp>
#include <tessera/layers/linear.hpp>
#include <tessera/layers/loss.hpp>
#include <tessera/track/training_logger.hpp>
#include <tessera/train/learning_rate_monitor.hpp>
#include <tessera/train/trainer.hpp>

#include <xtensor/xtensor.hpp>

#include <map>

using namespace tessera;

namespace {

struct kept final : logger {
  std::map<std::string, std::vector<double>> scalar;
  std::map<std::string, std::vector<std::uint64_t>> steps;
  std::map<std::string, std::vector<float>> histograms;

  [[nodiscard]] auto title() const -> std::string override { return "kept"; }
  void scalars(moment when, std::span<named_value const> values) override {
    for (auto const& each : values) {
      scalar[each.name].push_back(each.value);
      steps[each.name].push_back(when.step);
    }
  }
  void histogram(moment when, std::string_view name, std::span<float const> values) override {
    histograms[std::string{name}].assign(values.begin(), values.end());
    steps[std::string{name}].push_back(when.step);
  }
};

using learner = training<linear<2, 1>, tensor<float, shape<2, 2>>, adam>;

/// Six examples in batches of two, for some epochs.
auto fitted(std::uint64_t epochs, std::uint64_t log_every, training_logger_options options)
    -> std::shared_ptr<kept> {
  auto x = xt::xtensor<float, 2>{{0, 1}, {1, 0}, {1, 1}, {2, 1}, {1, 2}, {2, 2}};
  auto y = xt::xtensor<float, 2>{{1}, {2}, {3}, {5}, {4}, {6}};
  auto source = tensor_batches(x, y, {.batch = 2});
  auto monitor = tensor_batches(x, y, {.batch = 2, .shuffles = false});
  auto t = trainer<learner, mse>({.max_epochs = epochs, .log_every_n_steps = log_every},
                                 adam{.rate = 0.1}, {}, {});
  auto target = std::make_shared<kept>();
  t.callbacks.push_back(std::make_shared<learning_rate_monitor>());
  t.callbacks.push_back(std::make_shared<training_logger>(target, options));
  (void)t.fit(source, monitor, mean_absolute_error{});
  return target;
}

}  // namespace

TEST_CASE("training_logger: what a training logs by name, at its steps") {
  auto const log = fitted(2, 2, {});
  CHECK(log->steps["train_loss"] == std::vector<std::uint64_t>{2, 4, 6});
  CHECK(log->scalar["learning_rate"] == std::vector<double>{0.1, 0.1, 0.1});
  CHECK(log->steps["val_loss"] == std::vector<std::uint64_t>{3, 6});
  CHECK(log->scalar["val_mean_absolute_error"].size() == 2);
  CHECK(log->scalar["epoch"] == std::vector<double>{1, 2});
  CHECK(log->steps["train_loss_epoch"] == std::vector<std::uint64_t>{3, 6});
  CHECK(log->scalar["train_loss_epoch"][1] < log->scalar["train_loss_epoch"][0]);
}
TEST_CASE("training_logger: weights and gradients by their paths, every n-th epoch") {
  auto const log = fitted(4, 1, {.histograms_every_n_epochs = 2});
  CHECK(log->histograms.size() == 4);
  CHECK(log->steps["weights/weight"] == std::vector<std::uint64_t>{4, 10});
  CHECK(log->histograms["weights/weight"].size() == 2);
  CHECK(log->histograms["gradients/bias"].size() == 1);
  CHECK(log->histograms["gradients/bias"][0] != 0);
  CHECK(fitted(2, 1, {.histograms_every_n_epochs = 0})->histograms.empty());
}
