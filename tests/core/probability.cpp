// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/core/probability.hpp>

#include <limits>

using tessera::probability;

template <probability P> struct holder {
  static constexpr auto value = P.value();
};
static_assert(holder<0.25>::value == 0.25 && holder<0.2>::value == 0.2);
TEST_CASE("probability: outside [0, 1) is refused") {
  CHECK_THROWS_AS(probability(1.0), std::invalid_argument);
  CHECK_THROWS_AS(probability(-0.1), std::invalid_argument);
  CHECK_THROWS_AS(probability(std::numeric_limits<double>::quiet_NaN()), std::invalid_argument);
  CHECK(probability(0.999).millionths == 999000);
}
TEST_CASE("probability: what no millionths are is refused, not rounded to never or always") {
  for (auto const p : {0.9999999, 0.9999995, 4e-7, std::numeric_limits<double>::denorm_min()})
    CHECK_THROWS_WITH(probability(p),
                      "probability: expected 0, or what rounds to 1 to 999999 millionths");
  CHECK(probability(0.9999994).millionths == 999999);
  CHECK(probability(5e-7).millionths == 1);
  CHECK(probability(0.0).millionths == 0);
}
