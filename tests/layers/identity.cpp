// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/identity.hpp>

using namespace tessera;

static_assert(in_place<identity> && streams<identity> && parameter_count<identity> == 0);

TEST_CASE("identity: alone it copies, between layers it does nothing") {
  using X = tensor<double, shape<2, 3>>;
  auto const p = parameters_of<identity, owned<double>>{};
  auto const run = std::make_unique<inference<identity, X>>();
  CHECK(test::distance((*run)(p, X{{1, 2, 3, 4, 5, 6}}), {1, 2, 3, 4, 5, 6}) == 0);
  test::passes_gradient_check<identity, X>();
  test::passes_gradient_check<sequential<linear<3, 4>, identity, tanh_layer>, X>();
}
