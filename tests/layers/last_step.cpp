// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/last_step.hpp>

using namespace tessera;

// -- contract -------------------------------------------------------------------------------------
static_assert(accepts<last_step, shape<5, 2, 4>>);
static_assert(std::same_as<output_shape<last_step, shape<4, 3, 5>>, shape<3, 5>>);
static_assert(
    std::same_as<output_shape<last_step, shape<at_most(4), at_most(3), 5>>, shape<at_most(3), 5>>);
static_assert(parameter_count<last_step> == 0);
static_assert(not accepts<last_step, shape<4>>);
static_assert(not streams<last_step>);

// -- values by hand -------------------------------------------------------------------------------
TEST_CASE("last_step: the last sample of those there are, zeros of none") {
  using X = tensor<float, shape<at_most(4), at_most(2), 3>>;
  auto x = X{};
  test::fill(x, 1);
  auto const run = std::make_unique<inference<last_step, X>>();
  auto const p = parameters_of<last_step, owned<float>>{};
  for (auto time = std::size_t{1}; time <= 4; ++time) {
    test::poison(*run);
    auto const from = as_const(x.sized(time, 2));
    auto const y = (*run)(p, from);
    REQUIRE(y.extent_of<0>() == 2);
    CHECK(test::same_bits(y, from[time - 1]));
  }
  test::poison(*run);
  CHECK(test::distance((*run)(p, as_const(x.sized(0, 2))), {0, 0, 0, 0, 0, 0}) == 0);
}

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("last_step: gradient check, where it writes dx and where it adds to it") {
  using X = tensor<double, shape<at_most(4), at_most(3), 2>>;
  test::passes_gradient_check<sequential<linear<2, 3>, last_step>, X>(1, 0.7, 3, 2);
  test::passes_gradient_check<parallel<sequential<linear<2, 3>, last_step>, last_step>, X>(1, 0.7,
                                                                                           3, 2);
}
template <class B> using batch = tensor<float, shape<4, 3, 5>, B>;
TEST_CASE("last_step: vectors have the bits of the reference") {
  test::equals_reference<batch, sequential<linear<5, 5>, last_step, linear<5, 2>>>();
}
