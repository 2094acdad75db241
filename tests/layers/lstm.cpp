// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/lstm.hpp>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
static_assert(accepts<lstm<3, 8>, shape<9, 2, 3>> &&
              layer_for<lstm<3, 8>, tensor<float, shape<2, 3>>, streaming_call>);
static_assert(parameter_count<sequential<lstm<5, 64>, linear<64, 1>>> == 18'241);
static_assert(parameter_count<sequential<lstm<5, 64, lstm_options{.layers = 2}>, linear<64, 1>>> ==
              51'521);
static_assert(parameter_count<sequential<lstm<5, 128, lstm_options{.layers = 2, .dropout = 0.2}>,
                                         linear<128, 1>>> == 201'345);
static_assert(
    parameter_count<sequential<lstm<5, 256, lstm_options{.layers = 2}>, linear<256, 1>>> ==
    795'905);
static_assert(parameter_count<lstm<3, 8, lstm_options{.bias = false, .projection = 5}>> ==
              32 * (3 + 5) + 5 * 8);
static_assert(std::same_as<output_shape<lstm<3, 8>, shape<9, 2, 3>>, shape<9, 2, 8>>);
static_assert(std::same_as<output_shape<lstm<3, 8, lstm_options{.projection = 5}>, shape<9, 3>>,
                           shape<9, 5>>);
static_assert(stateful<lstm<3, 8>> && streams<lstm<3, 8>> && not row_wise<lstm<3, 8>>);
static_assert(
    memory_of<sequential<lstm<5, 64>, linear<64, 1>>, tensor<float, shape<5>>, call_mode::streaming>.total <
    80 * 1024);
static_assert(parameter_count<lstm<3, 8, lstm_options{.layers = 2, .bidirectional = true}>> ==
              2 * 32 * (3 + 8 + 2) + 2 * 32 * (16 + 8 + 2));
static_assert(
    std::same_as<output_shape<lstm<3, 8, lstm_options{.bidirectional = true}>, shape<9, 3>>,
                 shape<9, 16>>);
static_assert(not streams<lstm<3, 8, lstm_options{.bidirectional = true}>>);

// -- values by hand -------------------------------------------------------------------------------
constexpr auto closed_forget_gate() -> bool {
  using model = sequential<lstm<1, 1>>;
  auto p = parameters_of<model, owned<double>>{};
  auto& layer = get<0>(get<0>(p));
  layer.bias_ih = {{100, -100, 100, 100}};  // open, closed, one, open: c = 1 and h = tanh(1)
  auto const y = model::forward(p, tensor<double, shape<3, 1>>{{1, 2, 3}});
  auto const want = lane::tanh(1.0);
  for (auto const v : y)
    if (lane::abs(v - want) > 1e-15) return false;
  return true;
}
static_assert(closed_forget_gate());
TEST_CASE("lstm: a closed forget gate clears the state") { CHECK(closed_forget_gate()); }

// -- laws -----------------------------------------------------------------------------------------
using stacked = sequential<lstm<3, 19, lstm_options{.layers = 3}>, linear<19, 2>>;
using projected = sequential<lstm<3, 19, lstm_options{.layers = 2, .projection = 5}>>;

TEST_CASE("lstm: steps give the bits of a sequence") {
  test::streams_like_a_sequence<stacked, tensor<float, shape<9, 2, 3>>>();
  test::streams_like_a_sequence<projected, tensor<float, shape<9, 7, 3>>>();
  test::streams_like_a_sequence<stacked, tensor<double, shape<5, 3>>>();
}
TEST_CASE("lstm: a sequence in two parts, and any batch, give the same bits") {
  using X = tensor<float, shape<at_most(50), at_most(8), 3>>;
  auto const p = std::make_unique<parameters_of<stacked, owned<float>>>();
  test::fill_parameters(*p, 1, 0.5);
  auto const x = std::make_unique<tensor<float, shape<50, 5, 3>>>();
  test::fill(*x, 2);
  auto const whole = std::make_unique<inference<stacked, tensor<float, shape<50, 5, 3>>>>();
  auto const parts = std::make_unique<inference<stacked, X>>();
  auto const y = (*whole)(*p, *x);
  using V = view<float const, shape<at_most(50), at_most(8), 3>>;
  auto const head = (*parts)(*p, V{x->data(), {{{20, 5}}}});
  CHECK(std::memcmp(head.data(), y.data(), head.size() * sizeof(float)) == 0);
  auto const tail = parts->resume(*p, V{as_const(*x)[20].data(), {{{30, 5}}}});
  CHECK(std::memcmp(tail.data(), y[20].data(), tail.size() * sizeof(float)) == 0);

  auto lane = tensor<float, shape<50, 1, 3>>{};
  auto const one = std::make_unique<inference<stacked, tensor<float, shape<50, 1, 3>>>>();
  for (auto b = std::size_t{0}; b < 5; ++b) {
    for (auto t = std::size_t{0}; t < 50; ++t)
      for (auto i = std::size_t{0}; i < 3; ++i) lane(t, 0, i) = (*x)(t, b, i);
    auto const alone = (*one)(*p, lane);
    for (auto t = std::size_t{0}; t < 50; ++t) CHECK(test::same_bits(alone[t][0], y[t][b]));
  }
}

using both = lstm<3, 8, lstm_options{.layers = 2, .bidirectional = true}>;
TEST_CASE("lstm: both directions of a mirrored sequence change places") {
  using one = sequential<lstm<3, 8, lstm_options{.bidirectional = true}>>;
  using X = tensor<float, shape<5, 2, 3>>;
  auto p = parameters_of<one, owned<float>>{};
  for_each_parameter(
      [&](path_name const&, auto& w) {
        w = {};
        test::fill(w, 7, 0.5);
      },
      p);
  auto x = X{};
  auto mirrored = X{};
  test::fill(x, 1);
  for (auto t = std::size_t{0}; t < 5; ++t) assign(mirrored[t], x[4 - t]);
  auto const run = std::make_unique<inference<one, X>>();
  auto const other = std::make_unique<inference<one, X>>();
  auto const y = (*run)(p, x);
  auto const z = (*other)(p, mirrored);
  for (auto t = std::size_t{0}; t < 5; ++t)
    for (auto b = std::size_t{0}; b < 2; ++b)
      for (auto k = std::size_t{0}; k < 8; ++k) {
        CHECK(y(t, b, k) == z(4 - t, b, 8 + k));
        CHECK(y(t, b, 8 + k) == z(4 - t, b, k));
      }
}
TEST_CASE("lstm: a training pass of both directions starts from zero") {
  using X = tensor<float, shape<4, 2, 3>>;
  auto const pass = std::make_unique<differentiation<both, X>>();
  auto const p = std::make_unique<parameters_of<both, owned<float>>>();
  test::fill_parameters(*p, 1, 0.5);
  auto x = X{};
  test::fill(x, 2);
  *pass = {};
  pass->forward(*p, x);
  auto const once = pass->y;
  CHECK(test::same_bits(once, pass->forward(*p, x)));
}

template <class B> using batch = tensor<float, shape<6, 7, 3>, B>;
template <class B> using doubles = tensor<double, shape<4, 3, 3>, B>;
TEST_CASE("lstm: vectors have the bits of the reference") {
  test::equals_reference<batch, stacked>();
  test::equals_reference<batch, projected>();
  test::equals_reference<batch, sequential<lstm<3, 8, lstm_options{.bias = false}>>>();
  test::equals_reference<doubles, stacked>();
  test::equals_reference<batch, both>();
}
TEST_CASE("lstm: gradient check") {
  test::passes_gradient_check<sequential<lstm<3, 4>>, tensor<double, shape<5, 2, 3>>>();
  test::passes_gradient_check<sequential<lstm<3, 4, lstm_options{.layers = 2, .dropout = 0.5}>>,
                              tensor<double, shape<at_most(5), at_most(4), 3>>>(1, 0.7, 4, 3);
  test::passes_gradient_check<
      sequential<lstm<2, 4, lstm_options{.layers = 2, .bias = false, .projection = 3}>>,
      tensor<double, shape<4, 2, 2>>>();
  test::passes_gradient_check<
      lstm<3, 4, lstm_options{.layers = 2, .dropout = 0.5, .projection = 2, .bidirectional = true}>,
      tensor<double, shape<at_most(5), at_most(4), 3>>>(1, 0.7, 4, 3);
}
TEST_CASE("lstm: a second derivative of one forward pass is refused") {
  using X = tensor<float, shape<2, 1, 3>>;
  auto const pass = std::make_unique<differentiation<stacked, X>>();
  auto const p = std::make_unique<parameters_of<stacked, owned<float>>>();
  auto x = X{};
  *pass = {};
  pass->forward(*p, x);
  pass->backward(*p, x);
  CHECK_THROWS_AS(pass->backward(*p, x), std::invalid_argument);
}

// -- reference: tests/reference/lstm.py -----------------------------------------------------------
TEST_CASE("lstm: agrees with torch") {
  auto const g = test::golden("lstm");
  test::agrees_with_torch<sequential<lstm<5, 19>>, tensor<float, shape<6, 3, 5>>>(g, "plain.");
  test::agrees_with_torch<sequential<lstm<3, 8, lstm_options{.layers = 3}>>,
                          tensor<float, shape<4, 2, 3>>>(g, "stack.");
  test::agrees_with_torch<sequential<lstm<3, 8, lstm_options{.bias = false}>>,
                          tensor<float, shape<4, 2, 3>>>(g, "no_bias.");
  test::agrees_with_torch<sequential<lstm<3, 8, lstm_options{.layers = 2, .projection = 5}>>,
                          tensor<float, shape<4, 2, 3>>>(g, "projection.");
  test::agrees_with_torch<sequential<both>, tensor<float, shape<4, 2, 3>>>(g, "both.");
  test::agrees_with_torch<
      sequential<lstm<
          3, 8, lstm_options{.layers = 2, .bias = false, .projection = 5, .bidirectional = true}>>,
      tensor<float, shape<4, 2, 3>>>(g, "both_projected.");
}
TEST_CASE("lstm: takes and leaves torch's state") {
  using model = sequential<lstm<2, 4>>;
  using X = tensor<float, shape<3, 2, 2>>;
  auto const g = test::golden("lstm");
  auto p = parameters_of<model, owned<float>>{};
  auto x = X{};
  test::load(p, g, "state.");
  test::load(x, g["state.x"]);
  auto const run = std::make_unique<inference<model, X>>();
  auto& state = get<0>(get<0>(run->state));
  test::load(state.h, g["state.h"]);
  test::load(state.c, g["state.c"]);
  CHECK(test::distance(run->resume(p, x), g["state.y"]) <= 1e-6);
  CHECK(test::distance(state.h, g["state.h_n"]) <= 1e-6);
  CHECK(test::distance(state.c, g["state.c_n"]) <= 1e-6);
}
TEST_CASE("lstm: takes and leaves the state of layers and directions as torch does") {
  using stack = lstm<2, 4, lstm_options{.layers = 2, .bidirectional = true}>;
  using X = tensor<float, shape<3, 2, 2>>;
  auto const g = test::golden("lstm");
  auto p = parameters_of<sequential<stack>, owned<float>>{};
  auto x = X{};
  test::load(p, g, "both_state.");
  test::load(x, g["both_state.x"]);
  auto const run = std::make_unique<inference<stack, X>>();
  auto const each = [&](auto const& f) {
    auto at = std::ptrdiff_t{0};
    auto const one = [&]<std::size_t Level, std::size_t Direction>() {
      f(stack::layer_state<Level, Direction>(run->state), at);
      at += 2 * 4;
    };
    one.template operator()<0, 0>();
    one.template operator()<0, 1>();
    one.template operator()<1, 0>();
    one.template operator()<1, 1>();
  };
  auto const part = [&](char const* array, std::ptrdiff_t at) {
    auto const& whole = g[array];
    return std::vector<double>(whole.begin() + at, whole.begin() + at + 2 * 4);
  };
  each([&](auto& state, std::ptrdiff_t at) {
    test::load(state.h, part("both_state.h", at));
    test::load(state.c, part("both_state.c", at));
  });
  CHECK(test::distance(run->resume(get<0>(p), x), g["both_state.y"]) <= 1e-6);
  each([&](auto& state, std::ptrdiff_t at) {
    CHECK(test::distance(state.h, part("both_state.h_n", at)) <= 1e-6);
    CHECK(test::distance(state.c, part("both_state.c_n", at)) <= 1e-6);
  });
}
