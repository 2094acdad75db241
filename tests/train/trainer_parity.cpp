// SPDX-License-Identifier: MIT
#include <support/checksum.hpp>
#include <support/test.hpp>
#include <tessera/train/trainer.hpp>

#include <numbers>

using namespace tessera;

// The windowed filter of examples/frequency, trained beside torch.
namespace {

template <std::size_t Hidden, std::size_t Layers>
using filter = sequential<lstm<5, Hidden, lstm_options{.layers = Layers}>, linear<Hidden, 1>>;

template <std::size_t Hidden, std::size_t Layers>
void check_initial_bits(test::golden const& g, std::string const& name) {
  auto const p = std::make_unique<parameters_of<filter<Hidden, Layers>, owned<float>>>();
  auto generator = torch_generator(1);
  filter<Hidden, Layers>::initialize(*p, generator);
  auto sums = std::vector<double>{};
  for_each_parameter([&](auto const&, auto const& w) { sums.push_back(test::checksum(w)); }, *p);
  CHECK(sums == g["initial." + name]);
}

constexpr auto length = std::size_t{10};
constexpr auto lanes = std::size_t{16};
using X = tensor<float, shape<length, lanes, 5>>;
using Y = tensor<float, shape<length, lanes, 1>>;

struct mixed_signal {
  std::vector<double> mixture = std::vector<double>(10'000);
  std::vector<double> targets[4];

  mixed_signal() {
    auto generator = numpy_random_state(1);
    auto amplitudes = std::vector<double>(10'000);
    for (auto i = 0; i < 4; ++i) {
      auto const omega = 2 * std::numbers::pi * (2 * i + 1);
      for (auto& a : amplitudes) a = generator.uniform(0.8, 1.2);
      targets[i].resize(10'000);
      for (auto n = std::size_t{0}; n < 10'000; ++n) {
        auto const angle = omega * static_cast<double>(n) / 1000;
        auto const phase = 0.01 * generator.uniform(0, 2 * std::numbers::pi);
        mixture[n] += amplitudes[n] * std::sin(angle + phase);
        targets[i][n] = std::sin(angle);
      }
    }
    for (auto& s : mixture) s /= 4;
  }
  void batch(std::size_t step, X& x, Y& y) const {
    x = 0.0F;
    for (auto lane = std::size_t{0}; lane < lanes; ++lane) {
      auto const begin = (step * lanes + lane) * 97 % 9990;
      auto const which = (step + lane) % 4;
      for (auto t = std::size_t{0}; t < length; ++t) {
        x(t, lane, 0) = static_cast<float>(mixture[begin + t]);
        x(t, lane, 1 + which) = 1;
        y(t, lane, 0) = static_cast<float>(targets[which][begin + t]);
      }
    }
  }
};

}  // namespace

TEST_CASE("parity: a seed gives torch's initial parameters, bit for bit") {
  auto const g = test::golden("training_parity");
  check_initial_bits<64, 1>(g, "64x1");
  check_initial_bits<64, 2>(g, "64x2");
  check_initial_bits<128, 2>(g, "128x2");
}
TEST_CASE("parity: 50 clipped steps of Adam end where torch's do") {
  auto const g = test::golden("training_parity");
  using model = filter<16, 2>;
  auto const t = std::make_unique<training<model, X, adam>>();
  *t = {};
  auto generator = torch_generator(1);
  model::initialize(t->parameters, generator);
  auto const s = mixed_signal{};
  auto x = X{};
  auto y = Y{};
  for (auto step = std::size_t{0}; step < 50; ++step) {
    s.batch(step, x, y);
    t->restart();
    auto const loss =
        t->differentiate(0, as_const(x), as_const(y), mse{}, length * lanes, plain_context{});
    CHECK(loss == Approx(g["losses"][step]).epsilon(1e-5));
    (void)clip_norm(t->gradient(), 0.1);
    t->update(adam{.rate = 3e-3, .weight_decay = 1e-5});
  }
  for_each_parameter(
      [&](path_name const& path, auto const& w) {
        auto const& want = g[path.c_str()];
        REQUIRE(want.size() == w.size());
        auto largest = 0.0;
        auto error = 0.0;
        for (auto i = std::size_t{0}; i < w.size(); ++i) {
          largest = std::max(largest, std::abs(want[i]));
          error = test::larger(error, std::abs(static_cast<double>(w.values[i]) - want[i]));
        }
        INFO(path.c_str());
        CHECK(error <= 1e-4 * largest);
      },
      t->parameters);
  s.batch(0, x, y);
  auto const run = std::make_unique<inference<model, X>>();
  CHECK(test::distance((*run)(t->parameters, x), g["output"]) < 1e-4);
}
