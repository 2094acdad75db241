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
  auto const pairs = GENERATE(rotary_pairs::halves, rotary_pairs::neighbours);
  auto const g = detail::rotary_geometry{.times = 5,
                                         .lanes = 2,
                                         .vectors = 3,
                                         .time_distance = 200,
                                         .lane_distance = 90,
                                         .first = 4,
                                         .pairs = pairs};
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
TEST_CASE("rotary: neighbours are the halves in another order, with the same bits") {
  float const frequency[] = {1, 0.25F, 0.03F, 0.001F, 0.7F, 0.6F, 0.5F};
  auto g = detail::rotary_geometry{
      .times = 3, .lanes = 1, .vectors = 1, .time_distance = 14, .lane_distance = 14, .first = 1};
  float halves[3 * 14];
  float neighbours[3 * 14];
  test::fill(&halves[0], std::size_t{3 * 14}, 1);
  auto const place = [](std::size_t i) { return i / 14 * 14 + i % 14 / 2 + i % 2 * 7; };
  for (auto i = std::size_t{0}; i < 3 * 14; ++i) neighbours[i] = halves[place(i)];
  kernel_for<detail::rotary_fn, simd>::run<14>(g, frequency, halves, false);
  g.pairs = rotary_pairs::neighbours;
  kernel_for<detail::rotary_fn, simd>::run<14>(g, frequency, neighbours, false);
  for (auto i = std::size_t{0}; i < 3 * 14; ++i) CHECK(neighbours[i] == halves[place(i)]);
}
TEST_CASE("rotary: frequencies scaled for longer contexts") {
  auto const plain = detail::rotary_frequencies<double, 8>(5e5);
  CHECK(plain[0] == 1);
  CHECK(plain[2] == Approx(1 / std::sqrt(5e5)));
  auto const linear = detail::rotary_frequencies<double, 8>(
      5e5, rotary_scaling{.kind = rotary_kind::linear, .factor = 4});
  CHECK(linear[3] == plain[3] / 4);
  // Llama 3.1: waves in 8192 tokens: 1303.8, 49.03, 1.8438, 0.06934
  auto const llama3 = detail::rotary_frequencies<double, 8>(
      5e5, rotary_scaling{.kind = rotary_kind::llama3, .factor = 8});
  CHECK(llama3[1] == plain[1]);
  auto const part = (8192 * plain[2] / (2 * std::acos(-1.0)) - 1) / 3;
  CHECK(llama3[2] == Approx((1 - part) * plain[2] / 8 + part * plain[2]));
  CHECK(llama3[3] == plain[3] / 8);
}
