// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/gru.hpp>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
using stacked = sequential<gru<3, 19, gru_options{.layers = 3}>, linear<19, 2>>;
using both = gru<3, 8, gru_options{.layers = 2, .bidirectional = true}>;
static_assert(parameter_count<gru<5, 19>> == 3 * 19 * (5 + 19 + 2));
static_assert(parameter_count<both> == 2 * 24 * (3 + 8 + 2) + 2 * 24 * (16 + 8 + 2));
static_assert(std::same_as<output_shape<gru<3, 8>, shape<9, 2, 3>>, shape<9, 2, 8>>);
static_assert(std::same_as<output_shape<both, shape<9, 3>>, shape<9, 16>>);
static_assert(streams<gru<3, 8>> && not streams<both> && stateful<gru<3, 8>>);
static_assert(not accepts<gru<3, 8>, shape<9, 2, 4>>);
static_assert(
    layer_for<recurrent_layer<gru_cell, 3, 8, gru_options{}>, tensor<float, shape<9, 2, 3>>>);
static_assert(memory_of<gru<5, 64>, tensor<float, shape<1, 5>>, call_mode::streaming>.state ==
              64 * sizeof(float));

// -- values by hand -------------------------------------------------------------------------------
constexpr auto open_and_closed_gates() -> bool {
  using model = sequential<gru<1, 1>>;
  auto p = parameters_of<model, owned<double>>{};
  auto& layer = get<0>(get<0>(p));
  layer.weight_ih = {{0, 0, 1}};
  layer.bias_hh = {{-100, -100, 5}};  // reset and update closed: h = tanh(x), without the 5
  auto const x = tensor<double, shape<3, 1>>{{0.5, -1, 2}};
  auto const fresh = model::forward(p, x);
  for (auto t = std::size_t{0}; t < 3; ++t)
    if (lane::abs(fresh(t, 0) - lane::tanh(x(t, 0))) > 1e-15) return false;
  layer.bias_hh = {{100, -100, 5}};  // reset open: h = tanh(x + 5)
  auto const with_bias = model::forward(p, x);
  for (auto t = std::size_t{0}; t < 3; ++t)
    if (lane::abs(with_bias(t, 0) - lane::tanh(x(t, 0) + 5)) > 1e-15) return false;
  layer.bias_hh = {{100, 100, 5}};  // update open: h stays what it was
  for (auto const v : model::forward(p, x))
    if (lane::abs(v) > 1e-15) return false;
  return true;
}
static_assert(open_and_closed_gates());
TEST_CASE("gru: the reset gate multiplies the bias of h, the update gate keeps h") {
  CHECK(open_and_closed_gates());
}

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("gru: steps give the bits of a sequence") {
  test::streams_like_a_sequence<stacked, tensor<float, shape<9, 2, 3>>>();
  test::streams_like_a_sequence<stacked, tensor<double, shape<5, 3>>>();
}
TEST_CASE("gru: a sequence in two parts, of any bound, gives the same bits") {
  using X = tensor<float, shape<at_most(12), at_most(8), 3>>;
  auto const p = std::make_unique<parameters_of<stacked, owned<float>>>();
  test::fill_parameters(*p, 1, 0.5);
  auto const x = std::make_unique<tensor<float, shape<12, 5, 3>>>();
  test::fill(*x, 2);
  auto const whole = std::make_unique<inference<stacked, tensor<float, shape<12, 5, 3>>>>();
  auto const parts = std::make_unique<inference<stacked, X>>();
  auto const y = (*whole)(*p, *x);
  using V = view<float const, shape<at_most(12), at_most(8), 3>>;
  auto const head = (*parts)(*p, V{x->data(), {{{5, 5}}}});
  CHECK(std::memcmp(head.data(), y.data(), head.size() * sizeof(float)) == 0);
  auto const tail = parts->resume(*p, V{as_const(*x)[5].data(), {{{7, 5}}}});
  CHECK(std::memcmp(tail.data(), y[5].data(), tail.size() * sizeof(float)) == 0);
}

template <class B> using batch = tensor<float, shape<6, 7, 3>, B>;
template <class B> using doubles = tensor<double, shape<4, 3, 3>, B>;
TEST_CASE("gru: vectors have the bits of the reference") {
  test::equals_reference<batch, stacked>();
  test::equals_reference<batch, both>();
  test::equals_reference<batch, gru<3, 8, gru_options{.bias = false}>>();
  test::equals_reference<doubles, stacked>();
}
TEST_CASE("gru: gradient check") {
  test::passes_gradient_check<sequential<gru<3, 4>>, tensor<double, shape<5, 2, 3>>>();
  test::passes_gradient_check<
      gru<3, 4, gru_options{.layers = 2, .dropout = 0.5, .bias = false, .bidirectional = true}>,
      tensor<double, shape<at_most(5), at_most(4), 3>>>(1, 0.7, 4, 3);
}

// -- reference: tests/reference/gru.py ------------------------------------------------------------
TEST_CASE("gru: agrees with torch") {
  auto const g = test::golden("gru");
  test::agrees_with_torch<sequential<gru<5, 19>>, tensor<float, shape<6, 3, 5>>>(g, "plain.");
  test::agrees_with_torch<sequential<gru<3, 8, gru_options{.layers = 2}>>,
                          tensor<float, shape<4, 2, 3>>>(g, "stack.");
  test::agrees_with_torch<sequential<gru<3, 8, gru_options{.bias = false}>>,
                          tensor<float, shape<4, 2, 3>>>(g, "no_bias.");
  test::agrees_with_torch<sequential<both>, tensor<float, shape<4, 2, 3>>>(g, "both.");
}
TEST_CASE("gru: takes and leaves the state of layers and directions as torch does") {
  using stack = gru<2, 4, gru_options{.layers = 2, .bidirectional = true}>;
  using X = tensor<float, shape<3, 2, 2>>;
  auto const g = test::golden("gru");
  auto p = parameters_of<sequential<stack>, owned<float>>{};
  auto x = X{};
  test::load(p, g, "state.");
  test::load(x, g["state.x"]);
  auto const run = std::make_unique<inference<stack, X>>();
  auto const each = [&](auto const& f) {
    f(stack::layer_state<0, 0>(run->state).h, 0);
    f(stack::layer_state<0, 1>(run->state).h, 1);
    f(stack::layer_state<1, 0>(run->state).h, 2);
    f(stack::layer_state<1, 1>(run->state).h, 3);
  };
  auto const part = [&](char const* array, std::ptrdiff_t i) {
    auto const from = g[array].begin() + i * 2 * 4;
    return std::vector<double>(from, from + 2 * 4);
  };
  each([&](auto& h, std::ptrdiff_t i) { test::load(h, part("state.h", i)); });
  CHECK(test::distance(run->resume(get<0>(p), x), g["state.y"]) <= 1e-6);
  each([&](auto& h, std::ptrdiff_t i) { CHECK(test::distance(h, part("state.h_n", i)) <= 1e-6); });
}
