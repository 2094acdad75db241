// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/max_pool2d.hpp>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
static_assert(std::same_as<output_shape<max_pool2d<2>, shape<at_most(3), 5, 4, 7>>,
                           shape<at_most(3), 2, 2, 7>>);
using overlapping = max_pool2d<3, max_pool2d_options{.stride = 2, .padding = 1}>;
static_assert(std::same_as<output_shape<overlapping, shape<6, 5, 4>>, shape<3, 3, 4>>);
static_assert(accepts<overlapping, shape<2, 1, 1, 4>> && not accepts<max_pool2d<2>, shape<1, 4>>);
static_assert(not accepts<max_pool2d<3>, shape<1, 2, 5, 4>>);
static_assert(parameter_count<max_pool2d<2>> == 0 && std::is_empty_v<max_pool2d<2>>);
static_assert(
    memory_of<max_pool2d<2>, tensor<float, shape<1, 4, 4, 3>>, call_mode::training>.kept == 0);

// -- values by hand -------------------------------------------------------------------------------
TEST_CASE("max_pool2d: the largest of each square, whose slope goes to the first of equal ones") {
  using X = tensor<float, shape<1, 2, 4, 1>>;
  auto const x = X{{1, 5, 2, 2,  //
                    3, 4, 2, 2}};
  auto const pass = std::make_unique<differentiation<max_pool2d<2>, X>>();
  test::poison(*pass);
  CHECK(test::distance(pass->forward(nothing{}, x), {5, 2}) == 0);
  pass->dy = {{10, 20}};
  auto dx = X{};
  pass->backward(nothing{}, x, view_of<X>(dx), pass->gradient, plain_context{});
  CHECK(test::distance(dx, {0, 10, 20, 0, 0, 0, 0, 0}) == 0);
}
TEST_CASE("max_pool2d: what is padded is no number, and what is none is the largest") {
  using X = tensor<float, shape<1, 1, 2, 1>>;
  auto const run = std::make_unique<inference<overlapping, X>>();
  CHECK(test::distance((*run)(nothing{}, X{{-3, -2}}), {-2}) == 0);
  CHECK(std::isnan((*run)(nothing{}, X{{std::nanf(""), 2}}).data()[0]));
  CHECK(std::isnan((*run)(nothing{}, X{{2, std::nanf("")}}).data()[0]));
}

// -- laws -----------------------------------------------------------------------------------------
template <class B> using images = tensor<float, shape<3, 7, 6, 19>, B>;
TEST_CASE("max_pool2d: vectors have the bits of the reference") {
  test::equals_reference<images, max_pool2d<2>>();
  test::equals_reference<images, overlapping>();
}
TEST_CASE("max_pool2d: gradient check") {
  test::passes_gradient_check<sequential<conv2d<2, 3, 3>, max_pool2d<2>>,
                              tensor<double, shape<at_most(3), 6, 6, 2>>>(1, 0.7, 2);
  test::passes_gradient_check<overlapping, tensor<double, shape<2, 5, 4, 3>>>();
}

// -- reference: tests/reference/max_pool2d.py -----------------------------------------------------
TEST_CASE("max_pool2d: agrees with torch") {
  auto const g = test::golden("max_pool2d");
  test::agrees_with_torch<max_pool2d<2>, tensor<float, shape<2, 5, 4, 9>>>(g, "plain.");
  test::agrees_with_torch<overlapping, tensor<float, shape<2, 6, 5, 4>>>(g, "overlapping.");
  test::agrees_with_torch<
      max_pool2d<size2(1, 3), max_pool2d_options{.stride = size2(2, 1), .padding = size2(0, 1)}>,
      tensor<float, shape<1, 4, 5, 3>>>(g, "oblong.");
  test::agrees_with_torch<max_pool2d<2, max_pool2d_options{.stride = 1}>,
                          tensor<float, shape<2, 4, 4, 5>>>(g, "equal.");
}
