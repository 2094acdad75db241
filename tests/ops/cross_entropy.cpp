// SPDX-License-Identifier: MIT
#include <support/test.hpp>

using namespace tessera;

TEST_CASE("cross_entropy: probabilities minus what is wanted, safe from overflow") {
  double const logits[] = {1000, 1000, -1000};
  double slope[3];
  auto const loss = kernel_for<detail::cross_entropy_fn, simd>::row(logits, 3, 0, 0.0, slope, 2.0);
  CHECK(loss == Approx(std::log(2.0)));
  CHECK(slope[0] == Approx(-1));
  CHECK(slope[1] == Approx(1));
  CHECK(slope[2] == 0);
}
