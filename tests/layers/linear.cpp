// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/linear.hpp>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
static_assert(std::is_empty_v<linear<3, 2>>, "a layer is a description; it owns nothing");
static_assert(accepts<linear<3, 2>, shape<7, 5, 3>> && accepts<linear<3, 2>, shape<3>>);
static_assert(not accepts<linear<3, 2>, shape<3, 2>>, "the last extent is Out, not In");
static_assert(std::same_as<output_shape<linear<3, 2>, shape<7, 3>>, shape<7, 2>>);
static_assert(std::same_as<output_shape<linear<3, 2>, shape<at_most(7), 3>>, shape<at_most(7), 2>>);
static_assert(parameter_count<linear<3, 2>> == 8);
static_assert(parameter_count<linear<3, 2, linear_options{.bias = false}>> == 6);
static_assert(linear<3, 2>::multiply_adds<shape<7, 3>> == 7 * 3 * 2);

// -- values by hand -------------------------------------------------------------------------------
constexpr auto linear_by_hand() -> bool {
  using model = sequential<linear<3, 2>>;
  auto p = parameters_of<model, owned<float>>{};
  get<0>(p).weight = {{1, 2, 3, 4, 5, 6}};
  get<0>(p).bias = {{10, 20}};
  auto const y = model::forward(p, tensor<float, shape<1, 3>>{{1, 0, -1}});
  return y(0, 0) == 8.0F && y(0, 1) == 18.0F;  // (1 - 3) + 10, (4 - 6) + 20: exact in binary
}
static_assert(linear_by_hand());
TEST_CASE("linear: by hand") { CHECK(linear_by_hand()); }

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("linear: the bits of a row do not depend on the rows around it") {
  using model = sequential<linear<37, 21>>;
  auto const p = std::make_unique<parameters_of<model, owned<float>>>();
  test::fill_parameters(*p, 1);
  auto x = tensor<float, shape<19, 37>>{};
  test::fill(x, 2);
  auto const whole = std::make_unique<inference<model, tensor<float, shape<19, 37>>>>();
  auto const some = std::make_unique<inference<model, tensor<float, shape<at_most(19), 37>>>>();
  auto const alone = std::make_unique<streaming<model, tensor<float, shape<37>>>>();
  auto const y = (*whole)(*p, x);
  auto const part = view<float const, shape<at_most(19), 37>>{x.data(), {{{7}}}};
  auto const first = (*some)(*p, part);
  REQUIRE(first.extent_of<0>() == 7);
  for (auto r = std::size_t{0}; r < 19; ++r) {
    CHECK(test::same_bits(alone->step(*p, as_const(x)[r]), y[r]));
    if (r < 7) CHECK(test::same_bits(first[r], y[r]));
  }
}

template <class B> using rows_of_20 = tensor<float, shape<5, 20>, B>;
template <class B> using doubles = tensor<double, shape<3, 20>, B>;
TEST_CASE("linear: vectors have the bits of the reference") {
  test::equals_reference<rows_of_20, sequential<linear<20, 70>>>();
  test::equals_reference<rows_of_20, sequential<linear<20, 3, linear_options{.bias = false}>>>();
  test::equals_reference<doubles, sequential<linear<20, 70>>>();
}
TEST_CASE("linear: gradient check") {
  test::passes_gradient_check<sequential<linear<5, 4>>, tensor<double, shape<3, 5>>>();
  test::passes_gradient_check<sequential<linear<5, 4, linear_options{.bias = false}>>,
                              tensor<double, shape<at_most(3), 5>>>(1, 0.7, 2);
}

// -- reference: tests/reference/linear.py ---------------------------------------------------------
TEST_CASE("linear: agrees with torch") {
  auto const g = test::golden("linear");
  test::agrees_with_torch<sequential<linear<7, 5>>, tensor<float, shape<3, 2, 7>>>(g, "with_bias.");
  test::agrees_with_torch<sequential<linear<20, 33, linear_options{.bias = false}>>,
                          tensor<float, shape<4, 20>>>(g, "no_bias.");
}
