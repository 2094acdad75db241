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
using model = conditioned<sequential<linear<1, 5>, tanh_layer>, body>;
using one_number = given_as<tag::condition, tensor<float, shape<2, 1>>>;
static_assert(std::same_as<output_of<model, X>, tensor<double, shape<2, 3, 3>>>);
static_assert(accepts<conditioned<linear<1, 5>, body>, shape<2, 3, 4>, one_number>);
static_assert(not accepts<conditioned<linear<2, 5>, body>, shape<2, 3, 4>, one_number>,
              "the net takes one number");
static_assert(not accepts<model, shape<2, 3, 5>, one_number> && not accepts<model, shape<2, 3, 4>>);

TEST_CASE("with: gradient check; the caller's condition has its slope") {
  auto c = C{{0.3, -0.8}};
  test::passes_gradient_check_given<model, X>(given(c));
  using again = conditioned<sequential<linear<1, 5>, tanh_layer>, recompute<body>>;
  test::passes_gradient_check_given<again, X>(given(c));
}
TEST_CASE("with: one inside of another maps the condition on") {
  using inner = conditioned<linear<5, 2>, condition_bias<2, 4>>;
  using outer =
      conditioned<linear<1, 5>, sequential<condition_bias<5, 4>, inner, condition_bias<5, 4>>>;
  auto c = C{{0.3, -0.8}};
  test::passes_gradient_check_given<outer, X>(given(c));
}
TEST_CASE("with: the walk sees both parts, the condition net by its own input") {
  auto seen = std::vector<std::string>{};
  for_each_layer<model, X, given_as<tag::condition, C>>(
      [&]<class L, class In, class Call>(path_name const& path, place_of_layer<L, In, Call>) {
        seen.push_back(std::string(path) + ":" + std::to_string(last_of<shape_of<In>>));
      });
  CHECK(seen == std::vector<std::string>{"0.0:1", "0.1:5", "1.0:4", "1.1:3", "1.2.0.0.0:3",
                                         "1.2.0.0.1:3", "1.2.1.0.0:3", "1.2.1.0.1:3"});
}
