// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/layer_norm.hpp>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
static_assert(accepts<layer_norm<4>, shape<2, 4>>);
static_assert(row_wise<layer_norm<4>> && not accepts<layer_norm<4>, shape<2, 5>>);
static_assert(parameter_count<layer_norm<4>> == 8);
static_assert(parameter_count<layer_norm<4, layer_norm_options{.affine = false}>> == 0);

// -- values by hand -------------------------------------------------------------------------------
TEST_CASE("layer_norm: two numbers become -1 and 1") {
  using model = sequential<layer_norm<2, layer_norm_options{.epsilon_1e12 = 0}>>;
  auto p = parameters_of<model, owned<double>>{};
  get<0>(p).weight = {{1, 1}};
  get<0>(p).bias = {{0, 10}};
  auto const y = model::forward(p, tensor<double, shape<1, 2>>{{3, 7}});
  CHECK(y(0, 0) == -1);
  CHECK(y(0, 1) == 11);
}

// -- laws -----------------------------------------------------------------------------------------
template <class B> using batch = tensor<float, shape<5, 3, 70>, B>;
TEST_CASE("layer_norm: vectors have the bits of the reference") {
  test::equals_reference<batch, sequential<layer_norm<70>>>();
}
TEST_CASE("layer_norm: gradient check, streaming") {
  using model = sequential<layer_norm<5>, linear<5, 3>, layer_norm<3>>;
  test::passes_gradient_check<model, tensor<double, shape<3, 2, 5>>>();
  test::passes_gradient_check<model, tensor<double, shape<at_most(3), 5>>>(1, 0.7, 2);
  test::passes_gradient_check<sequential<layer_norm<4, layer_norm_options{.affine = false}>>,
                              tensor<double, shape<3, 4>>>();
  test::streams_like_a_sequence<model, tensor<float, shape<4, 2, 5>>>();
}

// -- reference: tests/reference/layer_norm.py -----------------------------------------------------
TEST_CASE("layer_norm: agrees with torch") {
  auto const g = test::golden("layer_norm");
  test::agrees_with_torch<sequential<layer_norm<13>>, tensor<float, shape<4, 3, 13>>>(g, "affine.");
  test::agrees_with_torch<sequential<layer_norm<13, layer_norm_options{.affine = false}>>,
                          tensor<float, shape<4, 3, 13>>>(g, "plain.");
}
TEST_CASE("layer_norm: what is initialized starts as torch's, whatever was there") {
  auto p = parameters_of<layer_norm<4>, owned<float>>{};
  test::fill_parameters(p, 1);
  auto g = torch_generator(1);
  initialize_layer<layer_norm<4>>(p, g);
  CHECK(test::distance(p.weight, {1, 1, 1, 1}) == 0);
  CHECK(test::distance(p.bias, {0, 0, 0, 0}) == 0);
}
