// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/ops/rotary.hpp>

#include <vector>

using namespace tessera;

TEMPLATE_TEST_CASE("rotary: vectors have the bits of the reference; turned back it is the start",
                   "", float, double) {
  using T = TestType;
  auto frequency = std::vector<T>(14);
  test::fill(frequency.data(), frequency.size(), 1);
  auto const g = detail::rotary_geometry{
      .times = 5, .lanes = 2, .vectors = 3, .time_distance = 200, .lane_distance = 90, .first = 4};
  auto x = std::vector<T>(1000);
  test::fill(x.data(), x.size(), 2);
  auto const start = x;
  auto y = x;
  kernel_for<detail::rotary_fn, simd>::run<28>(g, frequency.data(), x.data(), false);
  kernel_for<detail::rotary_fn, reference>::run<28>(g, frequency.data(), y.data(), false);
  CHECK(test::same_bits(x, y));
  CHECK(x != start);
  kernel_for<detail::rotary_fn, simd>::run<28>(g, frequency.data(), x.data(), true);
  for (auto i = std::size_t{0}; i < x.size(); ++i) CHECK(std::abs(x[i] - start[i]) < 1e-6);
}
