// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/embedding.hpp>

using namespace tessera;

static_assert(accepts<embedding<7, 4>, shape<9, 2>>);
static_assert(
    std::same_as<output_shape<embedding<7, 4>, shape<at_most(9), 2>>, shape<at_most(9), 2, 4>>);
static_assert(parameter_count<embedding<7, 4>> == 28 && streams<embedding<7, 4>>);

TEST_CASE("embedding: agrees with torch") {
  auto const g = test::golden("embedding");
  test::agrees_with_torch<sequential<embedding<7, 4>>, tensor<float, shape<2, 3>>>(g);
}
TEST_CASE("embedding: a number that names no row is refused") {
  using X = tensor<float, shape<2>>;
  auto const p = parameters_of<embedding<7, 4>, owned<float>>{};
  auto const run = std::make_unique<inference<embedding<7, 4>, X>>();
  CHECK_NOTHROW((*run)(p, X{{0, 6}}));
  for (auto const wrong : {-1.0F, 7.0F, 1e9F, std::nanf("")})
    CHECK_THROWS_WITH((*run)(p, X{{0, wrong}}), "embedding: x names no row of the table");
}
TEST_CASE("embedding: the start is torch's") {
  auto const g = test::golden("embedding");
  auto p = parameters_of<embedding<7, 4>, owned<float>>{};
  auto generator = torch_generator(1);
  embedding<7, 4>::initialize(p, generator);
  CHECK(test::distance(p.weight, g["0.weight"]) < 1e-6);
}
