// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/upsample.hpp>

using namespace tessera;

static_assert(accepts<upsample<2>, shape<2, 3, 4, 5>>);
static_assert(std::same_as<output_shape<upsample<2>, shape<2, 3, 4, 5>>, shape<2, 6, 8, 5>>);
static_assert(std::same_as<output_shape<upsample<3>, shape<at_most(2), 1, 4, 5>>,
                           shape<at_most(2), 3, 12, 5>>);
static_assert(not accepts<upsample<2>, shape<4, 5>>, "no image");
static_assert(parameter_count<upsample<2>> == 0);

TEST_CASE("upsample: pixels become squares") {
  using X = tensor<float, shape<1, 1, 2, 1>>;
  auto const p = parameters_of<upsample<2>, owned<float>>{};
  auto const run = std::make_unique<inference<upsample<2>, X>>();
  CHECK(test::distance((*run)(p, X{{1, 2}}), {1, 1, 2, 2, 1, 1, 2, 2}) == 0);
}
TEST_CASE("upsample: gradient check") {
  test::passes_gradient_check<sequential<upsample<2>>, tensor<double, shape<at_most(3), 2, 3, 2>>>(
      1, 1, 2);
}
TEST_CASE("upsample: agrees with torch") {
  auto const g = test::golden("upsample");
  test::agrees_with_torch<upsample<2>, tensor<float, shape<2, 3, 4, 5>>>(g, "two.");
  test::agrees_with_torch<upsample<3>, tensor<float, shape<1, 2, 1, 2>>>(g, "three.");
}
static_assert(not accepts<upsample<2>, shape<1, at_most(4), 4, 3>>, "an image has fixed extents");
static_assert(not accepts<upsample<2>, shape<1, 4, at_most(4), 3>>, "an image has fixed extents");
