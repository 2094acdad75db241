// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/compose/added.hpp>
#include <tessera/layers/conv1d.hpp>
#include <tessera/layers/identity.hpp>

using namespace tessera;

using X = tensor<double, shape<5, 2, 4>>;
using model = added<sequential<linear<4, 3>, tanh_layer>, lstm<4, 3>>;
static_assert(std::same_as<output_of<model, X>, tensor<double, shape<5, 2, 3>>>);
static_assert(streams<model> && stateful<model> && not row_wise<model>);
static_assert(not accepts<added<linear<4, 3>, linear<4, 2>>, shape<5, 4>>);

TEST_CASE("added: the sum of both") {
  auto p = parameters_of<model, owned<double>>{};
  auto x = X{};
  test::fill_parameters(p, 1);
  test::fill(x, 2);
  auto const y = forward_by_value<model>(p, x);
  auto const f = forward_by_value<sequential<linear<4, 3>, tanh_layer>>(get<0>(p), x);
  auto const g = forward_by_value<lstm<4, 3>>(get<1>(p), x);
  for (auto i = std::size_t{0}; i < y.size(); ++i) CHECK(y.values[i] == f.values[i] + g.values[i]);
}
TEST_CASE("added: gradient check, where outputs are read too; a stream is the sequence") {
  test::passes_gradient_check<model, X>();
  test::passes_gradient_check<added<tanh_layer, sigmoid_layer>, X>();
  test::passes_gradient_check<sequential<linear<4, 4>, added<identity, linear<4, 4>>, linear<4, 2>>,
                              tensor<double, shape<at_most(5), 4>>>(1, 0.7, 3);
  test::streams_like_a_sequence<model, tensor<float, shape<5, 2, 4>>>();
}
TEST_CASE("added: outputs of different actual extents are refused") {
  using halves =
      added<conv1d<4, 4, 3, {.stride = 2, .padding = 1}>, conv1d<4, 4, 2, {.stride = 2}>>;
  using bounded = tensor<float, shape<at_most(10), 2, 4>>;
  auto const run = std::make_unique<inference<halves, bounded>>();
  auto const p = parameters_of<halves, owned<float>>{};
  auto const x = bounded{};
  CHECK_NOTHROW((*run)(p, x.sized(10)));                                      // 5 and 5
  CHECK_THROWS_WITH((*run)(p, x.sized(9)), Catch::Contains("same extents"));  // 5 and 4
}
