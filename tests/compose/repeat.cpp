// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

using D = tensor<double, shape<5, 2, 4>>;
using block = sequential<layer_norm<4>, lstm<4, 4>, tanh_layer>;
using repeated = repeat<block, 3>;
using written_out = sequential<block, block, block>;
static_assert(parameter_count<repeated> == 3 * parameter_count<block>);

TEST_CASE("repeat: as the same layers written out, with parameters of their own") {
  auto p = parameters_of<repeated, owned<double>>{};
  auto q = parameters_of<written_out, owned<double>>{};
  test::fill_parameters(p, 1);
  test::fill_parameters(q, 1);
  auto x = D{};
  test::fill(x, 2);
  auto const a = std::make_unique<differentiation<repeated, D>>();
  auto const b = std::make_unique<differentiation<written_out, D>>();
  *a = {};
  *b = {};
  CHECK(test::same_bits(a->forward(p, x), b->forward(q, x)));
  test::fill(a->dy, 3);
  test::fill(b->dy, 3);
  a->backward(p, x);
  b->backward(q, x);
  auto of_a = std::vector<double>{};
  auto of_b = std::vector<double>{};
  for_each_parameter(
      [&](path_name const&, auto& w) { of_a.insert(of_a.end(), w.begin(), w.end()); }, a->gradient);
  for_each_parameter(
      [&](path_name const&, auto& w) { of_b.insert(of_b.end(), w.begin(), w.end()); }, b->gradient);
  CHECK(of_a == of_b);
}
TEST_CASE("repeat: gradients and streams") {
  test::passes_gradient_check<repeated, D>();
  test::passes_gradient_check<repeat<residual<linear<4, 4>>, 4>, D>();
  test::streams_like_a_sequence<repeated, tensor<float, shape<5, 2, 4>>>();
}
