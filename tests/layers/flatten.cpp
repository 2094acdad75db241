// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/flatten.hpp>

using namespace tessera;

static_assert(accepts<flatten, shape<3, 2, 4>>);
static_assert(std::same_as<output_shape<flatten, shape<at_most(3), 2, 4>>, shape<at_most(3), 8>>);
static_assert(std::same_as<output_shape<flatten, shape<3>>, shape<3, 1>>);
static_assert(std::same_as<output_shape<flatten, shape<3, at_most(5), 2>>, shape<3, at_most(10)>>);

TEST_CASE("flatten: the same numbers in their order") {
  using X = tensor<double, shape<2, 1, 3>>;
  auto const p = parameters_of<flatten, owned<double>>{};
  CHECK(test::distance(forward_by_value<flatten>(p, X{{1, 2, 3, 4, 5, 6}}), {1, 2, 3, 4, 5, 6}) ==
        0);
  test::passes_gradient_check<sequential<conv2d<2, 3, 2>, flatten, linear<12, 2>>,
                              tensor<double, shape<at_most(3), 3, 3, 2>>>(1, 0.7, 2);
}
TEST_CASE("flatten: axes whose extents are bounded are one, of what is there") {
  using X = tensor<double, shape<2, at_most(4), 3>>;
  auto const p = parameters_of<flatten, owned<double>>{};
  auto const run = std::make_unique<inference<flatten, X>>();
  auto x = X{};
  test::fill(x, 1);
  auto const seen = const_view_of<X>{x.data(), actual_extents<shape_of<X>>::from({2, 3, 3})};
  auto const y = (*run)(p, seen);
  CHECK(y.actual[1] == 9);
  CHECK(std::equal(y.data(), y.data() + 18, x.data()));
  test::passes_gradient_check<flatten, X>(1, 0.7, 2);
}
