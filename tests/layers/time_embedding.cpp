// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/time_embedding.hpp>

using namespace tessera;

static_assert(accepts<sinusoidal<8>, shape<5>> && accepts<time_embedding<8, 6>, shape<5>>);
static_assert(std::same_as<output_shape<sinusoidal<8>, shape<5>>, shape<5, 8>>);
static_assert(parameter_count<time_embedding<8, 6>> == 8 * 6 + 6 + 6 * 6 + 6);

TEST_CASE("time_embedding: cosines first, from frequency 1 down") {
  auto const g = test::golden("time_embedding");
  using X = tensor<float, shape<5>>;
  auto const run = std::make_unique<inference<sinusoidal<8>, X>>();
  auto const p = parameters_of<sinusoidal<8>, owned<float>>{};
  auto const y = (*run)(p, X{{0, 1, 3.5F, 7, 9}});
  CHECK(test::distance(y, g["waves"]) < 1e-6);
  CHECK(y(0, 0) == 1);
  CHECK(y(0, 4) == 0);
}
TEST_CASE("time_embedding: gradient check") {
  test::passes_gradient_check<time_embedding<8, 6>, tensor<double, shape<at_most(5)>>>(1, 0.7, 3);
}
TEST_CASE("time_embedding: agrees with torch, by diffusers' keys") {
  test::agrees_with_torch<time_embedding<8, 6>, tensor<float, shape<5>>>(
      test::golden("time_embedding"));
}
