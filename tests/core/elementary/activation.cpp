// SPDX-License-Identifier: MIT
#include <tessera/core/elementary/activation.hpp>

#include "sameness.hpp"

using namespace tessera;

static_assert(lane::tanh(0.0F) == 0 && lane::tanh(100.0F) == 1 && lane::tanh(-100.0) == -1);
static_assert(lane::sigmoid(0.0F) == 0.5F && lane::sigmoid(100.0) == 1 &&
              lane::sigmoid(-1000.0) == 0);
static_assert(lane::relu(-1.0F) == 0 && lane::relu(2.0F) == 2);
static_assert(lane::softplus(21.0) == 21.0);

SAME_BITS(tanh)
SAME_BITS(sigmoid)
SAME_BITS(relu)
SAME_BITS(silu)
SAME_BITS(softplus)
SAME_BITS(gelu)
SAME_BITS(gelu_slope)
SAME_BITS(gelu_tanh)
SAME_BITS(gelu_tanh_slope)

TEST_CASE("activations: NaN stays NaN, and -0 keeps its sign where the function is odd") {
  auto const nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(lane::tanh(nan)));
  CHECK(std::isnan(lane::sigmoid(nan)));
  CHECK(std::isnan(lane::relu(nan)));
  CHECK(std::isnan(lane::gelu(nan)));
  CHECK(std::isnan(lane::silu(nan)));
  CHECK(std::isnan(lane::softplus(nan)));
  CHECK(std::signbit(lane::tanh(-0.0F)));
}
TEST_CASE("gelu: the slope is the derivative") {
  for (auto x = -6.0; x < 6.0; x += 0.37) {
    auto const h = 1e-6;
    CHECK(lane::gelu_slope(x) ==
          Approx((lane::gelu(x + h) - lane::gelu(x - h)) / (2 * h)).margin(1e-8));
    CHECK(lane::gelu_tanh_slope(x) ==
          Approx((lane::gelu_tanh(x + h) - lane::gelu_tanh(x - h)) / (2 * h)).margin(1e-8));
  }
}
