// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/compose/named.hpp>
#include <tessera/compose/walk.hpp>

using namespace tessera;

using X = tensor<double, shape<4, 2, 3>>;
using model = sequential<named<"in", linear<3, 4>>, tanh_layer,
                         named<"", sequential<named<"middle.0", lstm<4, 4>>, linear<4, 4>>>,
                         residual<named<"inner", linear<4, 4>>>>;
static_assert(
    parameter_count<model> ==
    parameter_count<sequential<linear<3, 4>, lstm<4, 4>, linear<4, 4>, residual<linear<4, 4>>>>);
static_assert(std::is_empty_v<named<"in", linear<3, 4>>> && stateful<named<"x", lstm<3, 4>>>);

TEST_CASE(
    "named: a name instead of the index, in parameters and in the walk; an empty one adds "
    "nothing") {
  auto p = parameters_of<model, owned<double>>{};
  auto names = std::vector<std::string>{};
  for_each_parameter([&](path_name const& path, auto&) { names.emplace_back(path.c_str()); }, p);
  CHECK(names == std::vector<std::string>{"in.weight", "in.bias", "middle.0.weight_ih_l0",
                                          "middle.0.weight_hh_l0", "middle.0.bias_ih_l0",
                                          "middle.0.bias_hh_l0", "1.weight", "1.bias",
                                          "3.inner.weight", "3.inner.bias"});
  auto layers = std::vector<std::string>{};
  for_each_layer<model, X>([&](path_name const& path, auto) { layers.emplace_back(path.c_str()); });
  CHECK(layers == std::vector<std::string>{"in", "1", "middle.0", "1", "3.inner"});
}
TEST_CASE("named: the numbers of the layer") {
  using bare = sequential<linear<3, 4>, tanh_layer, sequential<lstm<4, 4>, linear<4, 4>>,
                          residual<linear<4, 4>>>;
  auto p = parameters_of<model, owned<double>>{};
  auto q = parameters_of<bare, owned<double>>{};
  test::fill_parameters(p, 1);
  test::fill_parameters(q, 1);
  auto x = X{};
  test::fill(x, 2);
  CHECK(test::same_bits(forward_by_value<model>(p, x), forward_by_value<bare>(q, x)));
  test::passes_gradient_check<model, X>();
  test::streams_like_a_sequence<model, tensor<float, shape<4, 2, 3>>>();
}
TEST_CASE("named: names may be put together") {
  static_assert(path_name(joined_name("blocks.", 12, ".norm").letters) == "blocks.12.norm");
  auto p = parameters_of<sequential<named<joined_name("a.", 3), linear<1, 1>>>, owned<float>>{};
  for_each_parameter([](path_name const& path, auto&) { CHECK(path.size() > 4); }, p);
}
