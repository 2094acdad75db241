// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/mean_over_time.hpp>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
static_assert(accepts<mean_over_time, shape<5, 2, 4>>);
static_assert(std::same_as<output_shape<mean_over_time, shape<4, 3, 5>>, shape<3, 5>>);
static_assert(std::same_as<output_shape<mean_over_time, shape<at_most(4), 5>>, shape<5>>);
static_assert(parameter_count<mean_over_time> == 0);
static_assert(not accepts<mean_over_time, shape<4>>);
static_assert(not streams<mean_over_time>);

// -- values by hand -------------------------------------------------------------------------------
TEST_CASE("mean_over_time: the mean of the samples there are, zeros of none") {
  using X = tensor<float, shape<at_most(4), 2>>;
  auto const p = parameters_of<mean_over_time, owned<float>>{};
  auto x = X{{1, 10, 2, 20, 6, 60, 100, 100}};
  auto const run = std::make_unique<inference<mean_over_time, X>>();
  test::poison(*run);
  CHECK(test::distance((*run)(p, as_const(x.sized(1))), {1, 10}) == 0);
  CHECK(test::distance((*run)(p, as_const(x.sized(3))), {3, 30}) == 0);
  CHECK(test::distance((*run)(p, as_const(x.sized(0))), {0, 0}) == 0);
}

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("mean_over_time: gradient check, where it writes dx and where it adds to it") {
  using X = tensor<double, shape<at_most(4), at_most(3), 2>>;
  test::passes_gradient_check<sequential<linear<2, 3>, mean_over_time>, X>(1, 0.7, 3, 2);
  test::passes_gradient_check<parallel<sequential<linear<2, 3>, mean_over_time>, mean_over_time>,
                              X>(1, 0.7, 3, 2);
}
template <class B> using batch = tensor<float, shape<4, 3, 5>, B>;
TEST_CASE("mean_over_time: vectors have the bits of the reference") {
  test::equals_reference<batch, sequential<linear<5, 5>, mean_over_time, linear<5, 2>>>();
}
