// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/activation.hpp>

#include <limits>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
static_assert(accepts<tanh_layer, shape<4, 3>> && accepts<gelu_layer, shape<3>>);
static_assert(in_place<tanh_layer> && row_wise<tanh_layer>);
static_assert(tanh_layer::about.backward_reads == reads::output);
static_assert(gelu_layer::about.backward_reads == reads::input && not in_place<gelu_layer>);

// -- values by hand -------------------------------------------------------------------------------
constexpr auto relu_by_hand() -> bool {
  auto const y = sequential<relu_layer>::forward(
      parameters_of<sequential<relu_layer>, owned<float>>{}, tensor<float, shape<3>>{{-1, 0, 2}});
  return y[0] == 0 && y[1] == 0 && y[2] == 2;
}
static_assert(relu_by_hand());
TEST_CASE("relu: by hand, at run time") { CHECK(relu_by_hand()); }

// -- laws -----------------------------------------------------------------------------------------
template <class B> using batch = tensor<float, shape<3, 37>, B>;
using every = sequential<linear<37, 37>, tanh_layer, linear<37, 37>, sigmoid_layer, linear<37, 37>,
                         silu_layer, linear<37, 37>, gelu_layer, linear<37, 37>, gelu_tanh_layer,
                         linear<37, 37>, softplus_layer, linear<37, 37>, relu_layer>;
TEST_CASE("activations: vectors have the bits of the reference") {
  test::equals_reference<batch, every>();
}
TEST_CASE("activations: gradient check, also over what is kept") {
  test::passes_gradient_check<
      sequential<linear<3, 3>, tanh_layer, tanh_layer, linear<3, 2>, tanh_layer>,
      tensor<double, shape<4, 3>>>();
  test::passes_gradient_check<sequential<linear<3, 3>, silu_layer, sigmoid_layer, gelu_layer,
                                         softplus_layer, gelu_tanh_layer>,
                              tensor<double, shape<4, 3>>>();
}

TEST_CASE(
    "relu: an infinite dy does not reach an x below 0, whole or as a layer before applies it") {
  using X = tensor<float, shape<19>>;
  auto const infinity = std::numeric_limits<float>::infinity();
  using pass_type = differentiation<sequential<relu_layer>, X>;
  auto const pass = std::make_unique<pass_type>();
  auto const p = pass_type::parameters_type{};
  *pass = {};
  auto x = X{};
  auto dx = X{};
  x = -1;
  x(3) = 2;
  x(4) = std::numeric_limits<float>::quiet_NaN();
  pass->forward(p, x);
  pass->dy = infinity;
  pass->backward(p, x, view_of<X>(dx), pass->gradient, plain_context{});
  for (auto i = std::size_t{0}; i < 19; ++i) CHECK(dx(i) == (i == 3 || i == 4 ? infinity : 0.0F));
  CHECK(relu_layer::slope_through(infinity, -1.0F) == 0);
  CHECK(relu_layer::slope_through(infinity, 2.0F) == infinity);
}

// -- reference: tests/reference/activation.py -----------------------------------------------------
TEST_CASE("activations: agree with torch") {
  auto const g = test::golden("activation");
  using X = tensor<float, shape<4, 8>>;
  test::agrees_with_torch<sequential<tanh_layer>, X>(g, "tanh.");
  test::agrees_with_torch<sequential<sigmoid_layer>, X>(g, "sigmoid.");
  test::agrees_with_torch<sequential<relu_layer>, X>(g, "relu.");
  test::agrees_with_torch<sequential<silu_layer>, X>(g, "silu.");
  test::agrees_with_torch<sequential<gelu_layer>, X>(g, "gelu.");
  test::agrees_with_torch<sequential<gelu_tanh_layer>, X>(g, "gelu_tanh.");
  test::agrees_with_torch<sequential<softplus_layer>, X>(g, "softplus.");
}
