// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/layers/mean_over_length.hpp>

#include <limits>

using namespace tessera;

using N = tensor<std::int32_t, shape<3>>;
using counts = given_as<tag::lengths, N>;

// -- contract -------------------------------------------------------------------------------------
static_assert(accepts<mean_over_length, shape<5, 3, 4>, counts>);
static_assert(not accepts<mean_over_length, shape<5, 3, 4>>, "nobody says how many count");
static_assert(not accepts<mean_over_length, shape<5, 2, 4>, counts>);
static_assert(not accepts<mean_over_length, shape<4>, counts>);
static_assert(std::same_as<mean_over_length::output_shape<shape<at_most(5), 3, 4>>, shape<3, 4>>);

// -- values by hand -------------------------------------------------------------------------------
TEST_CASE("mean_over_length: what lies beyond a length is not read, a lane of none has zeros") {
  using X = tensor<float, shape<at_most(4), 3, 1>>;
  auto const run = std::make_unique<inference<mean_over_length, X, counts>>();
  auto const nan = std::numeric_limits<float>::quiet_NaN();
  auto const x = X{{1, 2, nan, 3, nan, nan, nan, nan, nan}};
  auto const p = parameters_of<mean_over_length, owned<float>>{};
  auto n = N{{2, 1, 0}};
  CHECK(test::distance((*run)(p, x.sized(3), given<tag::lengths>(n)), {2, 2, 0}) == 0);
  n = {{2, 4, 0}};
  CHECK_THROWS_WITH((*run)(p, x.sized(3), given<tag::lengths>(n)),
                    "mean_over_length: a length is no whole number of samples");
  n = {{2, -1, 0}};
  CHECK_THROWS_WITH((*run)(p, x.sized(3), given<tag::lengths>(n)),
                    "mean_over_length: a length is no whole number of samples");
}

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("mean_over_length: whole lengths have the bits of mean_over_time") {
  using X = tensor<float, shape<7, 3, 20>>;
  auto x = X{};
  test::fill(x, 1);
  auto const n = N{{7, 7, 7}};
  auto const some = std::make_unique<inference<mean_over_length, X, counts>>();
  auto const all = std::make_unique<inference<mean_over_time, X>>();
  auto const none = parameters_of<mean_over_time, owned<float>>{};
  CHECK(test::same_bits(
      (*some)(parameters_of<mean_over_length, owned<float>>{}, x, given<tag::lengths>(n)),
      (*all)(none, x)));
}
TEST_CASE("mean_over_length: gradient check") {
  auto const n = N{{4, 0, 2}};
  using X = tensor<double, shape<at_most(5), 3, 4>>;
  test::passes_gradient_check_given<sequential<linear<4, 4>, mean_over_length>, X>(
      given<tag::lengths>(n), 1, 0.7, 4);
}
TEST_CASE("mean_over_length: lengths in the scalar of the model are those in whole numbers") {
  using X = tensor<float, shape<5, 3, 4>>;
  using F = tensor<float, shape<3>>;
  auto x = X{};
  test::fill(x, 1);
  auto const whole = N{{4, 0, 2}};
  auto const number = F{{4, 0, 2}};
  auto const none = parameters_of<mean_over_length, owned<float>>{};
  auto const a = std::make_unique<inference<mean_over_length, X, counts>>();
  auto const b = std::make_unique<inference<mean_over_length, X, given_as<tag::lengths, F>>>();
  CHECK(test::same_bits((*a)(none, x, given<tag::lengths>(whole)),
                        (*b)(none, x, given<tag::lengths>(number))));
}
