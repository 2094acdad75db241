// SPDX-License-Identifier: MIT
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

/// A cell in double, its parameters by torch's names.
template <class Cell, std::size_t In, std::size_t Hidden> struct exact_cell {
  using layer = recurrent_layer<Cell, In, Hidden, gru_options{}>;
  using X = tensor<double, shape<1, In>, reference>;
  std::unique_ptr<parameters_of<layer, owned<double, reference>>> p =
      std::make_unique<parameters_of<layer, owned<double, reference>>>();
  std::unique_ptr<streaming<layer, X>> run = std::make_unique<streaming<layer, X>>();

  explicit exact_cell(auto const& of) {
    run->state = {};
    for_each_parameter(
        [](path_name const&, auto& to, auto const& from) {
          for (auto i = std::size_t{0}; i < to.size(); ++i)
            to.data()[i] = static_cast<double>(from.data()[i]);
        },
        *p, of);
  }
};

/// The largest distance of h from `reference` and from double over some of `steps` steps.
struct distances {
  double of_reference = 0;
  double of_double = 0;
};
template <class Cell, std::size_t In, std::size_t Hidden, class Backend = relaxed>
auto distance(std::size_t steps) -> std::array<distances, 2> {
  using layer = recurrent_layer<Cell, In, Hidden, gru_options{}>;
  using X = tensor<float, shape<1, In>, Backend>;
  using R = tensor<float, shape<1, In>, reference>;
  auto const p = std::make_unique<parameters_of<layer, owned<float>>>();
  auto const q = std::make_unique<parameters_of<layer, packed<float>>>();
  auto const r = std::make_unique<parameters_of<layer, owned<float, reference>>>();
  auto generator = torch_generator(Hidden);
  auto const bound = 2 / std::sqrt(static_cast<double>(Hidden));
  for_each_parameter([&](path_name const&, auto& w) { generator.uniform(w, bound); }, *p);
  test::poison(*q);
  pack_parameters(*p, *q);
  pack_parameters(*p, *r);
  auto const stream = std::make_unique<streaming<layer, X>>();
  auto const want = std::make_unique<streaming<layer, R>>();
  auto exact = exact_cell<Cell, In, Hidden>(*p);
  test::poison(*stream);
  clear(stream->state);
  want->state = {};
  auto x = X{};
  auto of_reference = R{};
  auto of_double = tensor<double, shape<1, In>, reference>{};
  auto halves = std::array<distances, 2>{};
  for (auto t = std::size_t{0}; t < steps; ++t) {
    generator.uniform(x, 1.0);
    for (auto i = std::size_t{0}; i < In; ++i) {
      of_reference.values[i] = x.values[i];
      of_double.values[i] = static_cast<double>(x.values[i]);
    }
    auto const y = stream->step(*q, x);
    auto const plain = want->step(*r, of_reference);
    auto const best = exact.run->step(*exact.p, of_double);
    auto& most = halves[2 * t / steps];
    for (auto i = std::size_t{0}; i < Hidden; ++i) {
      auto const value = static_cast<double>(y.data()[i]);
      auto const larger = [](double a, double b) { return b <= a ? a : b; };
      most.of_reference =
          larger(most.of_reference, std::abs(value - static_cast<double>(plain.data()[i])));
      most.of_double = larger(most.of_double, std::abs(value - best.data()[i]));
    }
  }
  return halves;
}

template <class Cell, std::size_t In, std::size_t Hidden> void stays_near(std::size_t steps) {
  INFO(In << " to " << Hidden << ", " << Cell::gates << " gates");
  auto const [early, late] = distance<Cell, In, Hidden>(steps);
  INFO("reference " << early.of_reference << ", then " << late.of_reference << "; double "
                    << early.of_double << ", then " << late.of_double);
  CHECK(early.of_reference > 0);
  CHECK(early.of_reference < 1e-6);
  CHECK(late.of_reference < 1e-6);
  CHECK(early.of_double < 1e-6);
  CHECK(late.of_double < 1e-6);
  CHECK(late.of_reference < 4 * early.of_reference);
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

TEMPLATE_TEST_CASE("recurrent_relaxed: stays near the reference and near double", "", lstm_cell,
                   gru_cell) {
  stays_near<TestType, 1, 8>(4000);
  stays_near<TestType, 1, 16>(4000);
  stays_near<TestType, 3, 32>(2000);
  stays_near<TestType, 1, 64>(2000);
  stays_near<TestType, 2, 128>(1000);
}
TEST_CASE("recurrent_relaxed: units of any number") {
  []<std::size_t... H>(std::index_sequence<H...>) {
    (stays_near<lstm_cell, 1, 3 * H + 2>(100), ...);
  }(std::make_index_sequence<10>{});
  stays_near<gru_cell, 2, 33>(100);
  stays_near<gru_cell, 1, 40>(100);
  stays_near<lstm_cell, 1, 50>(100);
  stays_near<lstm_cell, 2, 75>(100);
  stays_near<gru_cell, 1, 101>(100);
  stays_near<leaky_cell, 2, 24>(100);
}
TEST_CASE("recurrent_relaxed: doubles and weights by rows are the reference's") {
  auto const [early, late] = distance<lstm_cell, 1, 24, simd>(20);
  CHECK(early.of_reference == 0);
  CHECK(late.of_reference == 0);
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
