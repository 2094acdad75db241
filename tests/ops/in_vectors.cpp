// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/ops/simd/in_vectors.hpp>

using namespace tessera;

TEMPLATE_TEST_CASE("in_vectors: every place once, whatever is left behind whole vectors", "", float,
                   double) {
  using T = TestType;
  for (auto n = std::size_t{0}; n < 70; ++n) {
    auto x = std::vector<T>(n + 1);
    for (auto i = std::size_t{0}; i <= n; ++i) x[i] = static_cast<T>(i);
    detail::in_vectors::each<T>(n, [&](auto lanes, std::size_t i) {
      auto const value = lanes.load(x.data() + i);
      lanes.store(x.data() + i, value + value);
    });
    for (auto i = std::size_t{0}; i < n; ++i) CHECK(x[i] == static_cast<T>(2 * i));
    CHECK(x[n] == static_cast<T>(n));
  }
}
