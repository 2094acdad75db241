// SPDX-License-Identifier: MIT
#include "bands.hpp"

#include <support/catch.hpp>
#include <tessera/random/torch.hpp>

#include <cmath>

using namespace forecast;
using list = std::vector<double>;

TEST_CASE("bands: quantiles of what was missed, added or multiplied") {
  auto came = list{}, forecasts = list(101, 2.0);
  for (auto i = 0; i <= 100; ++i) came.push_back(2 + i / 100.0);
  auto const added = bands_of(forecasts, came, false);
  auto const times = bands_of(forecasts, came, true);
  REQUIRE(added.size() == 7);
  CHECK(added[3].share == 0.8);
  CHECK(added[3].low == Approx(0.1));
  CHECK(added[3].high == Approx(0.9));
  CHECK(times[3].low == Approx(1.05));
  CHECK(times[3].high == Approx(1.45));
}
TEST_CASE("bands: hold their share of the days they come from, and of others like them") {
  auto random = tessera::torch_generator{3};
  auto const days = [&](std::size_t n) {
    auto noise = list(n);
    random.normal(noise.data(), n);
    for (auto& x : noise) x = std::exp(0.3 * x);
    return noise;
  };
  auto const forecasts = list(2000, 1.0);
  auto const came = days(2000), others = days(2000);
  for (auto const& b : bands_of(forecasts, came, true)) {
    CHECK(share_inside(b, forecasts, came, true) == Approx(b.share).margin(0.002));
    CHECK(share_inside(b, forecasts, others, true) == Approx(b.share).margin(0.04));
  }
}
TEST_CASE("bands: what is refused") {
  CHECK_THROWS_WITH(bands_of(list(1), list(1), false),
                    "bands_of: expected forecasts of at least 2 days, got 1 of 1");
  CHECK_THROWS_AS(bands_of(list(3), list(2), true), std::invalid_argument);
}
