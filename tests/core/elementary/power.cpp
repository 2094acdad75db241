// SPDX-License-Identifier: MIT
#include <tessera/core/elementary/power.hpp>

#include "sameness.hpp"

using namespace tessera;

static_assert(lane::pow(2.0F, 10.0F) == 1024.0F && lane::pow(-2.0, 3.0) == -8.0);
static_assert(lane::rsqrt(4.0F) == 0.5F);

SAME_BITS(rsqrt)
TEST_CASE("pow: numbers and vectors have the same bits") {
  for (auto const y : {-2.5, -1.0, 0.0, 0.5, 2.0, 3.0, 17.25}) {
    auto const f = [y](auto x) {
      return lane::pow(x, decltype(x)(static_cast<lane::scalar_of<decltype(x)>>(y)));
    };
    CHECK(test::vectors_equal_numbers<float>(f, 2000) != 0);
    CHECK(test::vectors_equal_numbers<double>(f, 2000) != 0);
  }
}
TEST_CASE("pow: the special values of the C standard") {
  auto const inf = std::numeric_limits<double>::infinity();
  auto const nan = std::numeric_limits<double>::quiet_NaN();
  for (auto const x : {-inf, -2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, inf, nan}) {
    for (auto const y : {-inf, -3.0, -2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 3.0, inf, nan}) {
      INFO(x << " to the power of " << y);
      auto const want = std::pow(x, y);
      auto const got = lane::pow(x, y);
      if (std::isnan(want))
        CHECK(std::isnan(got));
      else
        CHECK((got == Approx(want).epsilon(1e-15) && std::signbit(got) == std::signbit(want)));
      auto const single = lane::pow(static_cast<float>(x), static_cast<float>(y));
      if (std::isnan(want))
        CHECK(std::isnan(single));
      else
        CHECK((single == Approx(want).epsilon(1e-6) && std::signbit(single) == std::signbit(want)));
    }
  }
}
