// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/compose/recompute.hpp>
#include <tessera/compose/walk.hpp>
#include <tessera/compose/with.hpp>
#include <tessera/layers/condition_bias.hpp>

using namespace tessera;

using X = tensor<double, shape<2, 3, 4>>;
using C = tensor<double, shape<2, 1>>;
using body = sequential<linear<4, 3>, condition_bias<5, 3>,
                        repeat<residual<sequential<condition_bias<5, 3>, tanh_layer>>, 2>>;
using model = with<1, sequential<linear<1, 5>, tanh_layer>, body>;
static_assert(std::same_as<output_of<model, X>, tensor<double, shape<2, 3, 3>>>);
static_assert(not accepts<with<2, linear<1, 5>, body>, shape<2, 3, 4>>, "the net takes one number");
static_assert(not accepts<model, shape<2, 3, 5>>);

TEST_CASE("with: gradient check; the caller's condition has its slope") {
  auto c = C{{0.3, -0.8}};
  test::passes_gradient_check_given<model, X, C>(view_of<C>(c));
  using again = with<1, sequential<linear<1, 5>, tanh_layer>, recompute<body>>;
  test::passes_gradient_check_given<again, X, C>(view_of<C>(c));
}
TEST_CASE("with: one inside of another maps the condition on") {
  using inner = with<5, linear<5, 2>, condition_bias<2, 4>>;
  using outer =
      with<1, linear<1, 5>, sequential<condition_bias<5, 4>, inner, condition_bias<5, 4>>>;
  auto c = C{{0.3, -0.8}};
  test::passes_gradient_check_given<outer, X, C>(view_of<C>(c));
}
TEST_CASE("with: the walk sees both parts, the condition net by its own input") {
  auto seen = std::vector<std::string>{};
  for_each_layer<model, X>([&]<class L, class In>(name const& path, place_of_layer<L, In>) {
    seen.push_back(std::string(path) + ":" + std::to_string(last_of<shape_of<In>>));
  });
  CHECK(seen == std::vector<std::string>{"0.0:1", "0.1:5", "1.0:4", "1.1:3", "1.2.0.0.0:3",
                                         "1.2.0.0.1:3", "1.2.1.0.0:3", "1.2.1.0.1:3"});
}
