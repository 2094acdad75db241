// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/cuda.hpp>

using namespace tessera;

TEST_CASE("product: large tiles, and a depth cut into parts, up to the rounding of their sums") {
  auto r = torch_generator(2);
  auto const agrees = [&](std::size_t n, std::size_t m, std::size_t k,
                          device::start from = device::start::y) {
    auto const numbers = [&](std::size_t count) {
      auto v = std::vector<double>(count);
      r.uniform(v.data(), count, -1, 1);
      return v;
    };
    auto const a = numbers(n * k);
    auto const b = numbers(k * m);
    auto y = numbers(n * m);
    auto worst = 0.0;
    auto want = y;
    for (auto i = std::size_t{0}; i < n; ++i)
      for (auto j = std::size_t{0}; j < m; ++j)
        for (auto l = std::size_t{0}; l < k; ++l) want[i * m + j] += a[i * k + l] * b[l * m + j];
    device::multiply(device::product<double>{
        n, m, k, {a.data(), k, 1}, {b.data(), m, 1}, y.data(), m, from, nullptr});
    for (auto i = std::size_t{0}; i < n * m; ++i)
      worst = test::larger(worst, std::abs(y[i] - want[i]));
    return worst < 1e-12;
  };
  CHECK(agrees(700, 700, 5));   // 11 by 11 tiles of 64
  CHECK(agrees(770, 710, 17));  // 13 by 12
  CHECK(agrees(5, 40, 1000));   // two tiles of 32, 7 parts
  CHECK(agrees(5, 40, 1000, device::start::y_last));
  CHECK(agrees(33, 33, 2050));  // the last part is shorter
}
