// SPDX-License-Identifier: MIT
// A forecaster: an LSTM, attention over its steps, the last of them. Its parameters have the names
// that torch gives the same model, so that its training may begin with a file of torch's:
// 03_forecast_model [file.safetensors]
#include <tessera/data/tensor_batches.hpp>
#include <tessera/io/parameters.hpp>
#include <tessera/tessera.hpp>
#include <tessera/train/trainer.hpp>

#include <xtensor/xtensor.hpp>

#include <cmath>
#include <cstdio>

using namespace tessera;

struct separate {
  static constexpr auto query = "query", key = "key", value = "value", out = "out";
};
constexpr auto recurrence = lstm_options{.layers = 2, .dropout = 0.2};
using look_back = attention_layer<64, attention_options{.out_projection = false}, separate>;
// x is (batch, time, features), as with torch's batch_first.
using model =
    sequential<transposed_layer, named<"lstm", lstm<15, 64, recurrence>>,
               named<"attention", residual<named<"", look_back>>>,
               named<"layer_norm", layer_norm<64>>, last_step, named<"fc", linear<64, 1>>>;

static_assert(parameter_count<model> == 66'689);

using windows = tensor<float, shape<32, 60, 15>>;

auto main(int count, char** arguments) -> int try {
  // Waves of 128 phases, each at 15 lags; what is asked for is the step that follows the window.
  auto x = xt::xtensor<float, 3>(std::array<std::size_t, 3>{128, 60, 15});
  auto next = xt::xtensor<float, 2>(std::array<std::size_t, 2>{128, 1});
  auto const wave = [](std::size_t phase, std::size_t t) {
    return std::sin(0.2F * static_cast<float>(t) + 0.4F * static_cast<float>(phase));
  };
  for (auto b = std::size_t{0}; b < 128; ++b) {
    for (auto t = std::size_t{0}; t < 60; ++t)
      for (auto lag = std::size_t{0}; lag < 15; ++lag) x(b, t, lag) = wave(b, t - lag + 15);
    next(b, 0) = wave(b, 60 + 15);
  }
  auto batches = tensor_batches(x, next, {.batch = 32, .seed = 1});
  auto in_order = tensor_batches(x, next, {.batch = 32, .shuffles = false});

  using learner = training<model, windows, adam>;
  auto trainer =
      tessera::trainer<learner, mse>({.max_epochs = 10, .seed = 1}, {.rate = 3e-3}, {}, {});
  auto generator = torch_generator(1);
  if (count > 1)
    load_parameters(arguments[1], trainer.parameters());
  else
    model::initialize(trainer.parameters(), generator);
  std::printf("untrained:");
  trainer.predict(trainer.parameters(), in_order, [](auto, auto y, auto, auto) {
    for (auto const forecast : y) std::printf(" %.7f", forecast);
  });
  trainer.on_epoch = [](epoch_report const& r) {
    std::printf("\nepoch %2d, mean squared error %.5f", static_cast<int>(r.epoch),
                r.monitored_loss);
  };
  trainer.fit(batches, in_order);
  std::printf("\n");
  return trainer.evaluate(trainer.best(), in_order) < 0.05 ? 0 : 1;
} catch (std::exception const& e) {
  std::fprintf(stderr, "03_forecast_model: %s\n", e.what());
  return 2;
}
