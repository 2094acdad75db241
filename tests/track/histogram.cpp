// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/track/histogram.hpp>

#include <limits>
#include <numeric>

using namespace tessera;

namespace {

constexpr auto no_number = std::numeric_limits<float>::quiet_NaN();
constexpr auto infinity = std::numeric_limits<float>::infinity();

}  // namespace

TEST_CASE("histogram: counts, sums and what is no number") {
  auto const values = std::vector<float>{1, -2, 0, 0.5F, no_number, infinity, -infinity};
  for (auto const& h : {default_histogram(values), equal_histogram(values, 8)}) {
    CHECK(h.count == 4);
    CHECK(h.not_finite == 3);
    CHECK(h.minimum == -2);
    CHECK(h.maximum == 1);
    CHECK(h.sum == -0.5);
    CHECK(h.sum_of_squares == 5.25);
    CHECK(std::accumulate(h.counts.begin(), h.counts.end(), 0.0) == 4);
    CHECK(h.limits.size() == h.counts.size());
  }
}

TEST_CASE("histogram: a number is in the first bucket whose limit is above it") {
  auto const h = default_histogram(std::vector<float>{0, 0, 1});
  REQUIRE(h.limits.size() == 4);  // the run below zero, zero's bucket, the run between, one's
  CHECK(h.counts == std::vector<double>{0, 2, 0, 1});
  CHECK(h.limits[0] == 0);
  CHECK(h.limits[1] == 1e-12);
  CHECK(h.limits[2] <= 1);
  CHECK(h.limits[3] > 1);
  CHECK(h.limits[3] == Approx(h.limits[2] * 1.1));
}

TEST_CASE("histogram: the largest numbers of both signs have a bucket") {
  constexpr auto largest = std::numeric_limits<float>::max();
  auto const h = default_histogram(std::vector<float>{-largest, largest});
  CHECK(std::accumulate(h.counts.begin(), h.counts.end(), 0.0) == 2);
  CHECK(h.limits.back() == std::numeric_limits<double>::max());
}

TEST_CASE("histogram: equal buckets hold both ends, and equal numbers lie in the middle") {
  auto const h = equal_histogram(std::vector<float>{0, 1, 2, 3, 4}, 4);
  CHECK(h.limits == std::vector<double>{1, 2, 3, 4});
  CHECK(h.counts == std::vector<double>{1, 1, 1, 2});
  auto const point = equal_histogram(std::vector<float>{2, 2, 2}, 4);
  CHECK(point.limits == std::vector<double>{1.75, 2, 2.25, 2.5});
  CHECK(point.counts == std::vector<double>{0, 0, 3, 0});
}

TEST_CASE("histogram: of nothing there is nothing") {
  auto const h = default_histogram({});
  CHECK(h.count == 0);
  CHECK(h.limits.empty());
  CHECK(equal_histogram({}, 2).counts == std::vector<double>{0, 0});
}
