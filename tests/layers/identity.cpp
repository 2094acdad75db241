// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/identity.hpp>

using namespace tessera;

static_assert(accepts<identity, shape<4, 3>> &&
              accepts<skip_connection<linear<3, 1>>, shape<4, 3>>);
static_assert(in_place<identity> && streams<identity> && parameter_count<identity> == 0);

TEST_CASE("identity: alone it copies, between layers it does nothing") {
  using X = tensor<double, shape<2, 3>>;
  auto const p = parameters_of<identity, owned<double>>{};
  auto const run = std::make_unique<inference<identity, X>>();
  CHECK(test::distance((*run)(p, X{{1, 2, 3, 4, 5, 6}}), {1, 2, 3, 4, 5, 6}) == 0);
  test::passes_gradient_check<identity, X>();
  test::passes_gradient_check<sequential<linear<3, 4>, identity, tanh_layer>, X>();
}
TEST_CASE("skip: what a layer gives, and its input behind it") {
  using X = tensor<double, shape<2, 3>>;
  using model = skip_connection<linear<3, 1>>;
  static_assert(std::same_as<output_shape<model, shape<2, 3>>, shape<2, 4>>);
  auto p = parameters_of<model, owned<double>>{};
  get<0>(p).weight = {{1, 10, 100}};
  auto const run = std::make_unique<inference<model, X>>();
  CHECK(test::distance((*run)(p, X{{1, 2, 3, 4, 5, 6}}), {321, 1, 2, 3, 654, 4, 5, 6}) == 0);
  test::passes_gradient_check<
      sequential<skip_connection<sequential<linear<3, 2>, tanh_layer>>, linear<5, 1>>, X>();
}
