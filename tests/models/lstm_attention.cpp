// SPDX-License-Identifier: MIT
#include <support/checksum.hpp>
#include <support/test.hpp>
#include <tessera/models/lstm_attention.hpp>

#include <cmath>

using namespace tessera;

namespace {

constexpr auto time_steps = std::size_t{20};
constexpr auto lanes = std::size_t{8};
using X = tensor<float, shape<time_steps, lanes, 15>>;
using Y = tensor<float, shape<lanes, 1>>;

/// Waves at all lags, and what they are one sample later, as tests/reference/lstm_attention.py.
void fill_batch(std::size_t step, X& x, Y& y) {
  for (auto i = std::size_t{0}; i < lanes; ++i) {
    auto const phase = 0.4 * static_cast<double>(i + step * lanes);
    auto const wave = [&](double t) { return static_cast<float>(std::sin(0.2 * t + phase)); };
    for (auto t = std::size_t{0}; t < time_steps; ++t)
      for (auto lag = std::size_t{0}; lag < 15; ++lag)
        x(t, i, lag) = wave(static_cast<double>(t) - static_cast<double>(lag));
    y(i, 0) = wave(time_steps);
  }
}

}  // namespace

// -- contract -------------------------------------------------------------------------------------
static_assert(layer_for<lstm_attention<>, X>);
static_assert(parameter_count<lstm_attention<{.features = 10}>> == 65'409);
static_assert(parameter_count<lstm_attention<>> == 66'689);
static_assert(parameter_count<lstm_attention<{.features = 30, .heads = 4}>> == 70'529);
static_assert(std::same_as<output_shape<lstm_attention<>, shape<at_most(120), at_most(16), 15>>,
                           shape<at_most(16), 1>>);

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("lstm_attention: gradient check, one head, four and causal") {
  using S = tensor<double, shape<at_most(5), 2, 3>>;
  constexpr auto small = lstm_attention_options{.features = 3, .hidden = 8, .outputs = 2};
  constexpr auto four =
      lstm_attention_options{.features = 3, .hidden = 8, .layers = 1, .heads = 4, .causal = true};
  test::passes_gradient_check<lstm_attention<small>, S>(1, 0.6, 4);
  test::passes_gradient_check<lstm_attention<four>, S>(1, 0.6, 5);
}

// -- agreement with the reference -----------------------------------------------------------------
TEST_CASE("lstm_attention: a seed gives torch's initial parameters, bit for bit") {
  using model = lstm_attention<>;
  auto const p = std::make_unique<parameters_of<model, owned<float>>>();
  auto generator = torch_generator(1);
  model::initialize(*p, generator);
  auto sums = std::vector<double>{};
  for_each_parameter([&](auto const&, auto const& w) { sums.push_back(test::checksum(w)); }, *p);
  CHECK(sums == test::golden("lstm_attention")["initial"]);
}
TEMPLATE_TEST_CASE_SIG(
    "lstm_attention: 100 steps of Adam end where torch's do, and look where "
    "torch's look",
    "", ((std::size_t heads), heads), 1, 4) {
  using model = lstm_attention<lstm_attention_options{.heads = heads}>;
  using W = tensor<float, shape<lanes, heads, time_steps, time_steps>>;
  auto const g = test::golden("lstm_attention");
  auto const name = std::to_string(heads);
  auto const t = std::make_unique<training<model, X, adam>>();
  *t = {};
  auto generator = torch_generator(1);
  model::initialize(t->parameters, generator);
  auto x = X{};
  auto y = Y{};
  auto errors = std::vector<double>{};
  for (auto step = std::size_t{0}; step < 100; ++step) {
    fill_batch(step, x, y);
    t->restart();
    auto const loss = t->differentiate(0, as_const(x), as_const(y), mse{}, lanes, plain_context{});
    errors.push_back(std::abs(static_cast<double>(loss) - g[name + ".losses"][step]));
    t->update(adam{.rate = 1e-3});
  }
  CHECK(*std::ranges::max_element(errors) < 1e-5);

  fill_batch(0, x, y);
  auto const run = std::make_unique<inference<model, X, given_as<tag::attention_weights, W>>>();
  auto const w = std::make_unique<W>();
  auto const forecasts =
      (*run)(t->parameters, x, given<tag::attention_weights>(*w, view_of<W>(*w)));
  CHECK(test::distance(forecasts, g[name + ".forecasts"]) < 1e-5);
  auto last = std::vector<float>{};
  for (auto i = std::size_t{0}; i < lanes; ++i)
    for (auto h = std::size_t{0}; h < heads; ++h)
      for (auto s = std::size_t{0}; s < time_steps; ++s)
        last.push_back((*w)(i, h, time_steps - 1, s));
  auto worst = 0.0;
  for (auto i = std::size_t{0}; i < last.size(); ++i)
    worst = test::larger(worst, std::abs(static_cast<double>(last[i]) - g[name + ".weights"][i]));
  CHECK(last.size() == g[name + ".weights"].size());
  CHECK(worst < 1e-5);
}
