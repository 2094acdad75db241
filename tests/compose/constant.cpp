// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/compose/constant.hpp>

using namespace tessera;

using model = sequential<linear<2, 1>, tanh_layer, linear<1, 2>>;
constexpr auto signature = signature_of(parameters_of<model, counted>{});
static_assert(signature !=
                  signature_of(parameters_of<sequential<linear<2, 1>, linear<1, 2>>, counted>{}),
              "other names");
static_assert(
    signature !=
        signature_of(parameters_of<sequential<linear<1, 2>, tanh_layer, linear<2, 1>>, counted>{}),
    "other shapes");

TEST_CASE("constant: numbers become parameters in the order of the walk") {
  static constexpr float numbers[] = {1, 2, 3, 4, 5, 6, 7};
  constexpr auto p = constant_parameters<model, signature>(numbers);
  auto next = 1.0F;
  for_each_parameter(
      [&](path_name const&, auto const& w) {
        for (auto const v : w) CHECK(v == next++);
      },
      p);
  CHECK(next == 8);
  static_assert(forward_by_value<model>(p, tensor<float, shape<1, 2>>{{0, 0}}).values[0] > 4);
}
