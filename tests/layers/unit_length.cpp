// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/unit_length.hpp>

using namespace tessera;

static_assert(accepts<as_layer<unit_length>, shape<5, 3, 4>>);
static_assert(row_wise<as_layer<unit_length>>);

TEST_CASE("unit_length: by hand, and a row of zeros stays one") {
  using model = sequential<unit_length>;
  auto const p = parameters_of<model, owned<double>>{};
  auto const y = model::forward(p, tensor<double, shape<2, 2>>{{3, -4, 0, 0}});
  CHECK(test::distance(y, {0.6, -0.8, 0, 0}) < 1e-15);
}
TEST_CASE("unit_length: the slope of a row of zeros is that of a division by the bound") {
  using model = sequential<unit_length>;
  using X = tensor<double, shape<2, 2>>;
  auto const x = X{{0, 0, 3, 4}};
  auto const p = parameters_of<model, owned<double>>{};
  auto const pass = std::make_unique<differentiation<model, X>>();
  (void)pass->forward(p, x);
  pass->dy = {{1, 0, 1, 0}};
  auto dx = X{};
  pass->backward(p, x, view_of<X>(dx), pass->gradient, plain_context{});
  CHECK(test::distance(dx, {1e12, 0, 0.128, -0.096}) < 1e-3);
}
template <class B> using batch = tensor<float, shape<5, 3, 20>, B>;
TEST_CASE("unit_length: vectors have the bits of the reference; gradient check") {
  test::equals_reference<batch, sequential<linear<20, 20>, unit_length>>();
  test::passes_gradient_check<sequential<linear<4, 4>, unit_length>,
                              tensor<double, shape<at_most(5), 4>>>(1, 0.7, 3);
}
