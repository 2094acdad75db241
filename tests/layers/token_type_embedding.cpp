// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/token_type_embedding.hpp>

using namespace tessera;

using layer = token_type_embedding<3, 4>;
using N = tensor<std::int32_t, shape<5, 2>>;

// -- contract -------------------------------------------------------------------------------------
static_assert(accepts<layer, shape<5, 2, 4>> && accepts<layer, shape<4>>);
static_assert(accepts<layer, shape<5, 2, 4>, given_as<tag::token_types, N>>);
static_assert(not accepts<layer, shape<5, 3, 4>, given_as<tag::token_types, N>>);
static_assert(not accepts<layer, shape<5, 2, 3>> && row_wise<layer>);

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("token_type_embedding: by hand") {
  using X = tensor<float, shape<2, 2>>;
  using T = tensor<std::int32_t, shape<2>>;
  using small = token_type_embedding<2, 2>;
  auto const p = parameters_of<small, owned<float>>{.weight = {{1, 2, 3, 4}}};
  auto const x = X{{10, 20, 30, 40}};
  auto const told = std::make_unique<inference<small, X, given_as<tag::token_types, T>>>();
  auto const alike = std::make_unique<inference<small, X>>();
  CHECK(test::distance((*alike)(p, x), {11, 22, 31, 42}) == 0);
  auto types = T{{1, 0}};
  CHECK(test::distance((*told)(p, x, given<tag::token_types>(types)), {13, 24, 31, 42}) == 0);
  types = {{1, 2}};
  CHECK_THROWS_WITH((*told)(p, x, given<tag::token_types>(types)),
                    "embedding: x names no row of the table");
}
template <class B> using batch = tensor<float, shape<5, 2, 4>, B>;
TEST_CASE("token_type_embedding: vectors have the bits of the reference; gradient check") {
  test::equals_reference<batch, sequential<linear<4, 4>, layer, linear<4, 2>>>();
  test::passes_gradient_check<sequential<linear<4, 4>, layer, tanh_layer>,
                              tensor<double, shape<at_most(5), 2, 4>>>(1, 0.7, 3);
  auto const types = N{{0, 1, 2, 0, 1, 1, 0, 0, 2, 2}};
  test::passes_gradient_check_given<sequential<linear<4, 4>, layer, tanh_layer>,
                                    tensor<double, shape<5, 2, 4>>>(given<tag::token_types>(types));
}

// -- reference: tests/reference/embedding.py ------------------------------------------------------
TEST_CASE("token_type_embedding: the start is that of torch's embedding") {
  auto const g = test::golden("embedding");
  auto p = parameters_of<token_type_embedding<7, 4>, owned<float>>{};
  auto generator = torch_generator(1);
  initialize_layer<token_type_embedding<7, 4>>(p, generator);
  CHECK(test::distance(p.weight, g["0.weight"]) < 1e-6);
}
