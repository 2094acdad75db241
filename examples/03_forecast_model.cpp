// SPDX-License-Identifier: MIT
// A forecaster: an LSTM, attention over its steps, the last of them. Its parameters have the names
// that torch gives the same model.
#include <tessera/tessera.hpp>

#include <cmath>
#include <cstdio>
#include <memory>

using namespace tessera;

struct separate {
  static constexpr auto query = "query", key = "key", value = "value", out = "out";
};
constexpr auto recurrence = lstm_options{.layers = 2, .dropout = 0.2};
constexpr auto heads = attention_options{.out_projection = false};

using look_back = attention_layer<64, heads, separate>;
// x is (batch, time, features), as with torch's batch_first.
using model =
    sequential<transposed_layer, named<"lstm", lstm<15, 64, recurrence>>,
               named<"attention", residual<named<"", look_back>>>,
               named<"layer_norm", layer_norm<64>>, last_step, named<"fc", linear<64, 1>>>;
static_assert(parameter_count<model> == 66'689);

using windows = tensor<float, shape<32, 60, 15>>;
using forecasts = tensor<float, shape<32, 1>>;

auto main() -> int {
  auto const learner = std::make_unique<training<model, windows, adam>>();
  auto generator = torch_generator(1);
  model::initialize(learner->parameters, generator);
  for_each_parameter([](path_name const& path, auto const&) { std::printf("%s\n", path.c_str()); },
                     learner->parameters);

  // Waves of 32 phases; what is asked for is the value of the step that follows the window.
  auto const x = std::make_unique<windows>();
  auto next = forecasts{};
  auto const wave = [](std::size_t lane, std::size_t t) {
    return std::sin(0.2F * static_cast<float>(t) + 0.4F * static_cast<float>(lane));
  };
  for (auto b = std::size_t{0}; b < 32; ++b) {
    for (auto t = std::size_t{0}; t < 60; ++t)
      for (auto f = std::size_t{0}; f < 15; ++f) (*x)(b, t, f) = wave(b, t - f + 15);
    next(b, 0) = wave(b, 60 + 15);
  }
  auto losses = std::array<float, 2>{};
  for (auto step = 0U; step < 30; ++step) {
    learner->restart();
    losses[step == 0 ? 0 : 1] = learner->step(*x, next, mse{}, adam{.rate = 0.003},
                                              random_context{.seed = 1, .step = step});
  }
  std::printf("mean squared error: %.4f at first, %.4f after 30 steps\n", losses[0], losses[1]);
  return losses[1] < losses[0] / 2 ? 0 : 1;
}
