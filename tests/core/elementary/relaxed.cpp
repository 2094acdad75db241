// SPDX-License-Identifier: MIT
#include <tessera/core/elementary/relaxed.hpp>

#include "sameness.hpp"

using namespace tessera;

static_assert(lane::relaxed_tanh(0.0F) == 0 && lane::relaxed_sigmoid(0.0F) == 0.5F);

TEST_CASE("relaxed activations: numbers and vectors have the same bits") {
  CHECK(test::vectors_equal_numbers<float>([](auto x) { return lane::relaxed_tanh(x); }) != 0);
  CHECK(test::vectors_equal_numbers<float>([](auto x) { return lane::relaxed_sigmoid(x); }) != 0);
}

namespace {

/// The largest distance from `exact` of floats of all magnitudes.
template <class F, class G> auto farthest(F f, G exact) -> double {
  auto most = 0.0;
  for (auto bits = std::uint64_t{0}; bits < std::uint64_t{1} << 32; bits += 1009) {
    auto const x = lane::from_bits(static_cast<std::uint32_t>(bits));
    if (x != x) continue;
    auto const off = std::abs(static_cast<double>(f(x)) - exact(static_cast<double>(x)));
    if (not(off <= most)) most = off;
  }
  for (auto x = -20.0F; x < 20.0F; x += 1e-5F) {
    auto const off = std::abs(static_cast<double>(f(x)) - exact(static_cast<double>(x)));
    if (not(off <= most)) most = off;
  }
  return most;
}

}  // namespace

TEST_CASE("relaxed activations: every finite number and infinity is within the bound") {
  CHECK(farthest([](float x) { return lane::relaxed_tanh(x); },
                 [](double x) { return std::tanh(x); }) < (TESSERA_FMA ? 3e-7 : 4e-7));
  CHECK(farthest([](float x) { return lane::relaxed_sigmoid(x); },
                 [](double x) { return 1 / (1 + std::exp(-x)); }) < 2e-7);
}
TEST_CASE("relaxed activations: NaN stays, infinity is a limit, tanh is odd") {
  using limit = std::numeric_limits<float>;
  CHECK(std::isnan(lane::relaxed_tanh(limit::quiet_NaN())));
  CHECK(std::isnan(lane::relaxed_sigmoid(limit::quiet_NaN())));
  for (auto const x : {limit::infinity(), limit::max(), 30.0F}) {
    CHECK(lane::relaxed_tanh(x) == Approx(1.0F));
    CHECK(lane::relaxed_tanh(-x) == -lane::relaxed_tanh(x));
    CHECK(lane::relaxed_sigmoid(x) == Approx(1.0F));
    CHECK(lane::relaxed_sigmoid(-x) == Approx(0.0F).margin(1e-7));
  }
}
