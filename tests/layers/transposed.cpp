// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/transposed.hpp>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
static_assert(accepts<transposed_layer, shape<5, 2, 4>>);
static_assert(std::same_as<output_shape<transposed_layer, shape<4, 3, 5>>, shape<3, 4, 5>>);
static_assert(
    std::same_as<output_shape<transposed_layer, shape<at_most(4), 3>>, shape<3, at_most(4)>>);
static_assert(parameter_count<transposed_layer> == 0);
static_assert(not accepts<transposed_layer, shape<4>>);
static_assert(not streams<transposed_layer>);

// -- values by hand -------------------------------------------------------------------------------
TEST_CASE("transposed: the first two axes change places, of bounded extents too") {
  using X = tensor<float, shape<at_most(4), at_most(5), 2>>;
  auto x = X{};
  test::fill(x, 1);
  auto const run = std::make_unique<inference<transposed_layer, X>>();
  test::poison(*run);
  auto const from = as_const(x.sized(2, 3));
  auto const y = (*run)(parameters_of<transposed_layer, owned<float>>{}, from);
  REQUIRE(y.extent_of<0>() == 3);
  REQUIRE(y.extent_of<1>() == 2);
  for (auto b = std::size_t{0}; b < 2; ++b)
    for (auto t = std::size_t{0}; t < 3; ++t)
      for (auto k = std::size_t{0}; k < 2; ++k) CHECK(y(t, b, k) == from(b, t, k));
}

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("transposed: gradient check, alone and beside a layer that writes dx before") {
  using X = tensor<double, shape<at_most(3), at_most(4), 2>>;
  test::passes_gradient_check<sequential<linear<2, 3>, transposed_layer>, X>(1, 0.7, 2, 3);
  using square = tensor<double, shape<3, 3, 2>>;
  test::passes_gradient_check<added<linear<2, 2>, transposed_layer>, square>();
}
TEST_CASE("transposed: a recurrent model takes batches first") {
  using inner = lstm<3, 4>;
  using model = sequential<transposed_layer, inner, transposed_layer>;
  using X = tensor<float, shape<2, 5, 3>>;
  auto const p = std::make_unique<parameters_of<model, owned<float>>>();
  test::fill_parameters(*p, 1, 0.5);
  auto x = X{};
  test::fill(x, 2);
  auto over_time = tensor<float, shape<5, 2, 3>>{};
  for (auto b = std::size_t{0}; b < 2; ++b)
    for (auto t = std::size_t{0}; t < 5; ++t) assign(over_time[t][b], as_const(x)[b][t]);
  auto const run = std::make_unique<inference<model, X>>();
  auto const plain = std::make_unique<inference<inner, tensor<float, shape<5, 2, 3>>>>();
  auto const y = (*run)(*p, x);
  auto const z = (*plain)(get<1>(*p), over_time);
  for (auto b = std::size_t{0}; b < 2; ++b)
    for (auto t = std::size_t{0}; t < 5; ++t) CHECK(test::same_bits(y[b][t], z[t][b]));
}
