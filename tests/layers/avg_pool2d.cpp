// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/avg_pool2d.hpp>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
static_assert(std::same_as<output_shape<avg_pool2d<2>, shape<at_most(3), 5, 4, 7>>,
                           shape<at_most(3), 2, 2, 7>>);
using overlapping = avg_pool2d<3, avg_pool2d_options{.stride = 2, .padding = 1}>;
using inside =
    avg_pool2d<3, avg_pool2d_options{.stride = 2, .padding = 1, .counts_padding = false}>;
static_assert(std::same_as<output_shape<overlapping, shape<6, 5, 4>>, shape<3, 3, 4>>);
static_assert(accepts<overlapping, shape<2, 1, 1, 4>> && not accepts<avg_pool2d<2>, shape<1, 4>>);
static_assert(not accepts<avg_pool2d<3>, shape<1, 2, 5, 4>>);
static_assert(parameter_count<avg_pool2d<2>> == 0 && std::is_empty_v<avg_pool2d<2>>);
static_assert(
    memory_of<avg_pool2d<2>, tensor<float, shape<1, 4, 4, 3>>, call_mode::training>.kept == 0);

// -- values by hand -------------------------------------------------------------------------------
TEST_CASE("avg_pool2d: the mean of each square, whose slope is shared") {
  using X = tensor<float, shape<1, 2, 4, 1>>;
  auto const x = X{{1, 5, 2, 2,  //
                    3, 7, 2, 4}};
  auto const pass = std::make_unique<differentiation<avg_pool2d<2>, X>>();
  test::poison(*pass);
  CHECK(test::distance(pass->forward(nothing{}, x), {4, 2.5}) == 0);
  pass->dy = {{8, 4}};
  auto dx = X{};
  pass->backward(nothing{}, x, view_of<X>(dx), pass->gradient, plain_context{});
  CHECK(test::distance(dx, {2, 2, 1, 1, 2, 2, 1, 1}) == 0);
}
TEST_CASE("avg_pool2d: what is padded counts as zero, or not at all") {
  using X = tensor<float, shape<1, 1, 2, 1>>;
  auto const x = X{{6, 12}};
  CHECK(test::distance(inference<overlapping, X>{}(nothing{}, x), {2}) == 0);
  CHECK(test::distance(inference<inside, X>{}(nothing{}, x), {9}) == 0);
}

// -- laws -----------------------------------------------------------------------------------------
template <class B> using images = tensor<float, shape<3, 7, 6, 19>, B>;
TEST_CASE("avg_pool2d: vectors have the bits of the reference") {
  test::equals_reference<images, avg_pool2d<2>>();
  test::equals_reference<images, overlapping>();
  test::equals_reference<images, inside>();
}
TEST_CASE("avg_pool2d: gradient check") {
  test::passes_gradient_check<sequential<conv2d<2, 3, 3>, avg_pool2d<2>>,
                              tensor<double, shape<at_most(3), 6, 6, 2>>>(1, 0.7, 2);
  test::passes_gradient_check<overlapping, tensor<double, shape<2, 5, 4, 3>>>();
  test::passes_gradient_check<inside, tensor<double, shape<2, 5, 4, 3>>>();
}

// -- reference: tests/reference/avg_pool2d.py -----------------------------------------------------
TEST_CASE("avg_pool2d: agrees with torch") {
  auto const g = test::golden("avg_pool2d");
  test::agrees_with_torch<avg_pool2d<2>, tensor<float, shape<2, 5, 4, 9>>>(g, "plain.");
  test::agrees_with_torch<overlapping, tensor<float, shape<2, 6, 5, 4>>>(g, "overlapping.");
  test::agrees_with_torch<inside, tensor<float, shape<2, 6, 5, 4>>>(g, "inside.");
  test::agrees_with_torch<
      avg_pool2d<size2(1, 3), avg_pool2d_options{.stride = size2(2, 1), .padding = size2(0, 1)}>,
      tensor<float, shape<1, 4, 5, 3>>>(g, "oblong.");
}
