// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/ops/sinusoidal.hpp>

using namespace tessera;

TEST_CASE("sinusoidal: cosines, then sines, of each number") {
  double const x[] = {0.5, 2};
  double const frequency[] = {1, 0.25, 3};
  double y[12];
  kernel_for<detail::sinusoidal_fn, reference>::forward(2, x, 3, frequency, y);
  for (auto i = 0; i < 2; ++i)
    for (auto k = 0; k < 3; ++k) {
      CHECK(std::abs(y[6 * i + k] - std::cos(x[i] * frequency[k])) < 1e-15);
      CHECK(std::abs(y[6 * i + 3 + k] - std::sin(x[i] * frequency[k])) < 1e-15);
    }
}
