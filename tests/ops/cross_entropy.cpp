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
TEST_CASE("cross_entropy: its terms are the rows that are not ignored") {
  std::int32_t const targets[] = {2, -100, 0, -100, -100};
  using kernels = kernel_for<detail::cross_entropy_fn, simd>;
  CHECK(kernels::terms(5, targets, -100) == 2);
  CHECK(kernels::terms(5, targets, 2) == 4);
  CHECK(kernels::terms(0, targets, -100) == 0);
}
