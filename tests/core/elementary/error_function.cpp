// SPDX-License-Identifier: MIT
#include <tessera/core/elementary/error_function.hpp>

#include "sameness.hpp"

using namespace tessera;

static_assert(lane::erf(0.0F) == 0 && lane::erf(10.0F) == 1 && lane::erfc(-10.0) == 2);

SAME_BITS(erf)
SAME_BITS(erfc)
SAME_BITS(normal_distribution)

TEST_CASE("erf: special values, symmetry") {
  CHECK(std::isnan(lane::erf(std::numeric_limits<float>::quiet_NaN())));
  CHECK(std::isnan(lane::erfc(std::numeric_limits<double>::quiet_NaN())));
  CHECK(lane::erf(std::numeric_limits<float>::infinity()) == 1);
  CHECK(lane::erfc(std::numeric_limits<double>::infinity()) == 0);
  for (auto x = 0.0; x < 6.0; x += 0.17) CHECK(lane::erf(-x) == -lane::erf(x));
}
