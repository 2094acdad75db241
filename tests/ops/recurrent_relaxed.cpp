// SPDX-License-Identifier: MIT
#include <support/any_cell.hpp>
#include <support/test.hpp>

using namespace tessera;

namespace {

/// Another cell than the library's, with formulas that no relaxed activation takes part in.
struct leaky_cell {
  static constexpr std::size_t gates = 2;
  static constexpr bool carries = true;
  static constexpr auto sums = std::array<recurrent_sum, 2>{{{0}, {1}}};
  template <class H, class C> struct state {
    H h;
    C c;
  };
  template <class V>
  [[nodiscard]] TESSERA_INLINE static constexpr auto forward(V const (&sum)[2], V c_before)
      -> recurrent_unit<V, 2> {
    using namespace lane;
    V const input = relu(sum[0]);
    V const kept = sigmoid(sum[1]);
    V const c = fma(kept, c_before, input - kept * input);
    return {{input, kept}, c, tanh(c)};
  }
};

/// Random numbers that a stream was given, and what came of them.
struct trial {
  std::size_t in;
  std::size_t hidden;
  std::size_t steps;
  std::vector<float> x{};
  std::vector<float> h{};
};

/// The largest distance of h from float, summed as everywhere else, and from double.
struct distances {
  double of_float = 0;
  double of_double = 0;
};
/// In each half of the steps.
template <class Cell>
auto distance(trial const& of, test::any_cell<Cell, float> same, test::any_cell<Cell, double> exact)
    -> std::array<distances, 2> {
  auto halves = std::array<distances, 2>{};
  auto wide = std::vector<double>(of.in);
  for (auto t = std::size_t{0}; t < of.steps; ++t) {
    auto const* const x = of.x.data() + t * of.in;
    std::copy(x, x + of.in, wide.begin());
    same.step(x);
    exact.step(wide.data());
    auto& most = halves[2 * t / of.steps];
    for (auto i = std::size_t{0}; i < of.hidden; ++i) {
      auto const h = static_cast<double>(of.h[t * of.hidden + i]);
      auto const larger = [](double a, double b) { return b <= a ? a : b; };
      most.of_float = larger(most.of_float, std::abs(h - static_cast<double>(same.h[i])));
      most.of_double = larger(most.of_double, std::abs(h - exact.h[i]));
    }
  }
  return halves;
}
template <class Cell, std::size_t In, std::size_t Hidden, class Backend = relaxed>
auto distance(std::size_t steps) -> std::array<distances, 2> {
  using layer = recurrent_layer<Cell, In, Hidden, gru_options{}>;
  using X = tensor<float, shape<1, In>, Backend>;
  auto const p = std::make_unique<parameters_of<layer, owned<float>>>();
  auto const q = std::make_unique<parameters_of<layer, packed<float>>>();
  auto generator = torch_generator(Hidden);
  auto const bound = 2 / std::sqrt(static_cast<double>(Hidden));
  for_each_parameter([&](path_name const&, auto& w) { generator.uniform(w, bound); }, *p);
  test::poison(*q);
  pack_parameters(*p, *q);
  auto const stream = std::make_unique<streaming<layer, X>>();
  test::poison(*stream);
  clear(stream->state);
  auto result = trial{In, Hidden, steps};
  auto x = X{};
  for (auto t = std::size_t{0}; t < steps; ++t) {
    generator.uniform(x, 1.0);
    auto const y = stream->step(*q, x);
    result.x.insert(result.x.end(), x.data(), x.data() + In);
    result.h.insert(result.h.end(), y.data(), y.data() + Hidden);
  }
  auto same = test::any_cell<Cell, float>{1, In, Hidden};
  auto exact = test::any_cell<Cell, double>{1, In, Hidden};
  same.copy_parameters(*p);
  exact.copy_parameters(*p);
  return distance<Cell>(result, same, exact);
}

void is_near(std::array<distances, 2> const& found) {
  auto const [early, late] = found;
  INFO("float " << early.of_float << ", then " << late.of_float << "; double " << early.of_double
                << ", then " << late.of_double);
  CHECK(early.of_float > 0);
  CHECK(early.of_float < 1e-6);
  CHECK(late.of_float < 1e-6);
  CHECK(early.of_double < 1e-6);
  CHECK(late.of_double < 1e-6);
  CHECK(late.of_float < 4 * early.of_float);
}
template <class Cell, std::size_t In, std::size_t Hidden> void stays_near(std::size_t steps) {
  INFO(In << " to " << Hidden << ", " << Cell::gates << " gates");
  is_near(distance<Cell, In, Hidden>(steps));
}

/// Numbers that a call leaves, on a backend.
template <class Backend> auto training_pass() {
  using model = sequential<lstm<3, 16>, gru<16, 8>, linear<8, 2>>;
  using X = tensor<float, shape<6, 4, 3>, Backend>;
  auto const pass = std::make_unique<differentiation<model, X>>();
  auto const p = std::make_unique<parameters_of<model, owned<float, Backend>>>();
  *pass = {};
  test::fill_parameters(*p, 1, 0.5);
  auto x = X{};
  test::fill(x, 2);
  auto const y = pass->forward(*p, x);
  auto result = std::vector<float>(y.data(), y.data() + y.size());
  test::fill(pass->dy, 3);
  pass->backward(*p, x);
  for_each_parameter(
      [&](path_name const&, auto const& w) { result.insert(result.end(), w.begin(), w.end()); },
      pass->gradient);
  auto const whole = std::make_unique<inference<model, X>>();
  auto const z = (*whole)(*p, x);
  result.insert(result.end(), z.data(), z.data() + z.size());
  return result;
}

}  // namespace

TEMPLATE_TEST_CASE("recurrent_relaxed: stays near sums in order and near double", "", lstm_cell,
                   gru_cell) {
  stays_near<TestType, 1, 8>(4000);
  stays_near<TestType, 1, 16>(4000);
  stays_near<TestType, 3, 32>(2000);
  stays_near<TestType, 1, 64>(2000);
  stays_near<TestType, 2, 128>(1000);
}
TEST_CASE("recurrent_relaxed: units of any number") {
  stays_near<lstm_cell, 1, 2>(100);
  stays_near<lstm_cell, 1, 5>(100);
  stays_near<lstm_cell, 1, 11>(100);
  stays_near<lstm_cell, 1, 14>(100);
  stays_near<lstm_cell, 1, 20>(100);
  stays_near<lstm_cell, 1, 29>(100);
  stays_near<gru_cell, 2, 33>(100);
  stays_near<lstm_cell, 1, 50>(100);
  stays_near<lstm_cell, 2, 75>(100);
  stays_near<gru_cell, 1, 101>(100);
  stays_near<leaky_cell, 2, 24>(100);
}
TEST_CASE("recurrent_relaxed: doubles and weights by rows are the reference's") {
  auto const [early, late] = distance<lstm_cell, 1, 24, simd>(20);
  CHECK(early.of_float == 0);
  CHECK(late.of_float == 0);
  using layer = lstm<1, 24>;
  auto const answers = []<class T, class Backend, class P>(T, Backend, std::type_identity<P>) {
    using X = tensor<T, shape<1, 1>, Backend>;
    auto const p = std::make_unique<parameters_of<layer, owned<T>>>();
    auto const q = std::make_unique<parameters_of<layer, P>>();
    test::fill_parameters(*p, 1, 0.5);
    pack_parameters(*p, *q);
    auto const stream = std::make_unique<streaming<layer, X>>();
    clear(*stream);
    auto result = std::vector<T>{};
    for (auto t = 0; t < 5; ++t) {
      auto const y = stream->step(*q, X{{static_cast<T>(0.25 * t)}});
      result.insert(result.end(), y.data(), y.data() + y.size());
    }
    return result;
  };
  CHECK(answers(1.0, relaxed{}, std::type_identity<packed<double>>{}) ==
        answers(1.0, simd{}, std::type_identity<packed<double>>{}));
  CHECK(answers(1.0F, relaxed{}, std::type_identity<owned<float>>{}) ==
        answers(1.0F, simd{}, std::type_identity<owned<float>>{}));
  CHECK(answers(1.0F, relaxed{}, std::type_identity<packed<float, float, relaxed>>{}) ==
        answers(1.0F, relaxed{}, std::type_identity<packed<float>>{}));
}
TEST_CASE("recurrent_relaxed: sequences and training have the bits of simd") {
  CHECK(training_pass<relaxed>() == training_pass<simd>());
}
TEST_CASE("recurrent_relaxed: a stream that is cleared begins anew, whichever way it went last") {
  using layer = lstm<1, 64>;
  using X = tensor<float, shape<2, 1>, relaxed>;
  auto const p = std::make_unique<parameters_of<layer, owned<float>>>();
  auto const q = std::make_unique<parameters_of<layer, packed<float>>>();
  test::fill_parameters(*p, 1, 0.3);
  pack_parameters(*p, *q);
  auto const stream = std::make_unique<streaming<layer, X>>();
  auto const answers = [&] {
    clear(stream->state);
    auto result = std::vector<float>{};
    for (auto t = 0; t < 5; ++t) {
      auto const x = 0.1F * static_cast<float>(t);
      auto const y = stream->step(*q, X{{x, -x}});
      result.insert(result.end(), y.data(), y.data() + y.size());
    }
    return result;
  };
  auto const first = answers();
  stream->state = {};
  (void)stream->step(*q, X{{1, 1}});
  CHECK(answers() == first);
}
