// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/select_column.hpp>

using namespace tessera;

static_assert(accepts<select_column<1, 3>, shape<4, 3>>);
static_assert(
    std::same_as<output_shape<select_column<1, 3>, shape<at_most(4), 3>>, shape<at_most(4)>>);
static_assert(not accepts<select_column<1, 3>, shape<4, 2>> &&
              not accepts<select_column<1, 3>, shape<2, 4, 3>>);

TEST_CASE("select_column: one of them, and its slope back in its place") {
  using X = tensor<double, shape<2, 3>>;
  auto const p = parameters_of<select_column<1, 3>, owned<double>>{};
  auto const run = std::make_unique<inference<select_column<1, 3>, X>>();
  CHECK(test::distance((*run)(p, X{{1, 2, 3, 4, 5, 6}}), {2, 5}) == 0);
  test::passes_gradient_check<select_column<2, 3>, tensor<double, shape<at_most(4), 3>>>(1, 1, 3);
}
