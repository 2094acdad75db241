// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/column.hpp>

using namespace tessera;

static_assert(std::same_as<output_shape<column<1, 3>, shape<at_most(4), 3>>, shape<at_most(4)>>);
static_assert(not accepts<column<1, 3>, shape<4, 2>> && not accepts<column<1, 3>, shape<2, 4, 3>>);

TEST_CASE("column: one of them, and its slope back in its place") {
  using X = tensor<double, shape<2, 3>>;
  auto const p = parameters_of<column<1, 3>, owned<double>>{};
  auto const run = std::make_unique<inference<column<1, 3>, X>>();
  CHECK(test::distance((*run)(p, X{{1, 2, 3, 4, 5, 6}}), {2, 5}) == 0);
  test::passes_gradient_check<column<2, 3>, tensor<double, shape<at_most(4), 3>>>(1, 1, 3);
}
