// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

using D = tensor<double, shape<5, 2, 4>>;

TEST_CASE("residual: x + f(x)") {
  using inner = sequential<linear<4, 6>, relu_layer, linear<6, 4>>;
  auto p = parameters_of<residual<inner>, owned<double>>{};
  auto x = D{};
  test::fill_parameters(p, 1);
  test::fill(x, 2);
  auto const run = std::make_unique<inference<residual<inner>, D>>();
  auto const f = forward_by_value<inner>(get<0>(p), x);
  CHECK(test::same_bits((*run)(p, x), D(x + f)));
}
TEST_CASE("residual: gradients and streams") {
  test::passes_gradient_check<residual<sequential<linear<4, 6>, tanh_layer, linear<6, 4>>>, D>();
  test::passes_gradient_check<residual<residual<lstm<4, 4>>>, D>();
  test::passes_gradient_check<residual<tanh_layer>, D>();
  test::streams_like_a_sequence<residual<lstm<4, 4>>, tensor<float, shape<5, 2, 4>>>();
}
