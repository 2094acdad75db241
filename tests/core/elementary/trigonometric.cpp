// SPDX-License-Identifier: MIT
#include <tessera/core/elementary/trigonometric.hpp>

#include "sameness.hpp"

using namespace tessera;

static_assert(lane::sin(0.0F) == 0 && lane::cos(0.0) == 1);
static_assert(lane::sin(1.5707963267948966) == 1.0);

SAME_BITS(sin)
SAME_BITS(cos)

TEST_CASE("sin, cos: special values, symmetry") {
  CHECK(std::isnan(lane::sin(std::numeric_limits<float>::infinity())));
  CHECK(std::isnan(lane::cos(std::numeric_limits<double>::quiet_NaN())));
  CHECK(std::signbit(lane::sin(-0.0F)));
  for (auto x = 0.0F; x < 100.0F; x += 0.37F) {
    CHECK(lane::sin(-x) == -lane::sin(x));
    CHECK(lane::cos(-x) == lane::cos(x));
    CHECK(lane::sin(x) * lane::sin(x) + lane::cos(x) * lane::cos(x) == Approx(1));
  }
}
