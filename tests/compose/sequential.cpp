// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

using D = tensor<double, shape<5, 2, 4>>;

TEST_CASE("sequential: layer after layer, by hand") {
  using model = sequential<linear<4, 6>, tanh_layer, linear<6, 3>>;
  auto p = parameters_of<model, owned<double>>{};
  auto x = D{};
  test::fill_parameters(p, 1);
  test::fill(x, 2);
  auto const a = forward_by_value<linear<4, 6>>(get<0>(p), x);
  auto const b = tensor<double, shape<5, 2, 6>>(tanh(a));
  auto const c = forward_by_value<linear<6, 3>>(get<2>(p), b);
  auto const run = std::make_unique<inference<model, D>>();
  CHECK(test::same_bits((*run)(p, x), c));
}
TEST_CASE("sequential: gradients through every mixture of what layers keep") {
  test::passes_gradient_check<sequential<linear<4, 6>, tanh_layer, linear<6, 3>>, D>();
  test::passes_gradient_check<sequential<relu_layer, linear<4, 6>, gelu_layer, layer_norm<6>>, D>();
  test::passes_gradient_check<sequential<tanh_layer, sigmoid_layer, silu_layer>, D>();
  test::passes_gradient_check<
      sequential<sequential<linear<4, 5>, lstm<5, 3>>, sequential<sequential<tanh_layer>>>, D>();
  test::passes_gradient_check<
      sequential<layer_norm<4>, attention_layer<4>, lstm<4, 3>, linear<3, 2>>, D>();
}
TEST_CASE("sequential: what the arena held before does not matter") {
  using model = sequential<linear<4, 6>, tanh_layer, lstm<6, 5>, layer_norm<5>, linear<5, 3>>;
  auto p = parameters_of<model, owned<double>>{};
  auto x = D{};
  test::fill_parameters(p, 1);
  test::fill(x, 2);
  auto const clean = std::make_unique<differentiation<model, D>>();
  auto const dirty = std::make_unique<differentiation<model, D>>();
  *clean = {};
  test::poison(*dirty);
  dirty->state = {};
  clear_parameters(dirty->gradient);
  CHECK(test::same_bits(clean->forward(p, x), dirty->forward(p, x)));
  clean->dy = 0.5;
  dirty->dy = 0.5;
  clean->backward(p, x);
  dirty->backward(p, x);
  CHECK(test::same_parameters(clean->gradient, dirty->gradient));
}
TEST_CASE("sequential: parameters have PyTorch's names") {
  using model =
      sequential<lstm<3, 4, lstm_options{.layers = 2}>, sequential<relu_layer, linear<4, 1>>>;
  auto p = parameters_of<model, owned<float>>{};
  auto paths = std::vector<std::string>{};
  for_each_parameter([&](path_name const& path, auto&) { paths.emplace_back(path.c_str()); }, p);
  CHECK(paths == std::vector<std::string>{"0.weight_ih_l0", "0.weight_hh_l0", "0.bias_ih_l0",
                                          "0.bias_hh_l0", "0.weight_ih_l1", "0.weight_hh_l1",
                                          "0.bias_ih_l1", "0.bias_hh_l1", "1.1.weight",
                                          "1.1.bias"});
}
