// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

using D = tensor<double, shape<5, 2, 4>>;
using model = parallel<linear<4, 3>, tanh_layer, lstm<4, 2>>;
static_assert(std::same_as<output_of<model, D>, tensor<double, shape<5, 2, 9>>>);
static_assert(parameter_count<model> ==
              parameter_count<linear<4, 3>> + parameter_count<lstm<4, 2>>);

TEST_CASE("parallel: outputs side by side") {
  auto p = parameters_of<model, owned<double>>{};
  auto x = D{};
  test::fill_parameters(p, 1);
  test::fill(x, 2);
  auto const run = std::make_unique<inference<model, D>>();
  auto const y = (*run)(p, x);
  auto const a = forward_by_value<linear<4, 3>>(get<0>(p), x);
  auto const c = forward_by_value<lstm<4, 2>>(get<2>(p), x);
  for (auto t = std::size_t{0}; t < 5; ++t)
    for (auto b = std::size_t{0}; b < 2; ++b) {
      for (auto i = std::size_t{0}; i < 3; ++i) CHECK(y(t, b, i) == a(t, b, i));
      for (auto i = std::size_t{0}; i < 4; ++i) CHECK(y(t, b, 3 + i) == lane::tanh(x(t, b, i)));
      for (auto i = std::size_t{0}; i < 2; ++i) CHECK(y(t, b, 7 + i) == c(t, b, i));
    }
}
TEST_CASE("parallel: dx is the sum over the branches; a stream is the sequence") {
  test::passes_gradient_check<model, D>();
  test::passes_gradient_check<
      sequential<linear<4, 4>, parallel<tanh_layer, linear<4, 2>>, linear<6, 1>>, D>();
  test::streams_like_a_sequence<model, tensor<float, shape<5, 2, 4>>>();
}
