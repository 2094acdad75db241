// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/shape/shape.hpp>

using namespace tessera;

static_assert(shape<>::rank == 0 && shape<>::capacity == 1);
static_assert(shape<8, 16>::capacity == 128 && shape<8, 16>::bounded == 0);
using mixed = shape<at_most(128), 16, at_most(3)>;
static_assert(std::same_as<mixed, shape<-128, 16, -3>>, "a bounded extent is the negative number");
static_assert(mixed::bounded == 2 && mixed::capacity == 128 * 16 * 3);
static_assert(bound_at<mixed, 0> == 128 && bound_at<mixed, -1> == 3);
static_assert(first_of<mixed> == 128 && last_of<mixed> == 3);
static_assert(shape_like<mixed> && fixed_shape<shape<2>> && not fixed_shape<mixed> &&
              not shape_like<int>);
static_assert(std::is_empty_v<actual_extents<shape<2, 3>>>, "fixed extents take no memory");
static_assert(sizeof(actual_extents<mixed>) == 2 * sizeof(std::size_t));

constexpr auto run_time_half() -> bool {
  auto const actual = actual_extents<mixed>{{{7, 2}}};
  return actual[0] == 7 && actual[1] == 16 && actual.get<2>() == 2 && actual.size() == 7 * 16 * 2 &&
         actual.fits() && not actual_extents<mixed>{{{129, 2}}}.fits() &&
         actual_extents<mixed>::from(actual.full()) == actual &&
         actual_extents<mixed>::largest().size() == mixed::capacity &&
         actual.as<shape<4, at_most(9), at_most(9)>>()[1] == 7;
}
static_assert(run_time_half());
TEST_CASE("shape: extents of run time") { CHECK(run_time_half()); }
