// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/tensor/accumulate.hpp>

#include <cmath>

using namespace tessera;

TEST_CASE("accumulate: element i goes to lane i mod 64, lanes fold by halves") {
  auto lanes = reductions::lanes<reductions::adds, float>{};
  float expected[64] = {};
  for (auto i = 0; i < 200; ++i) {
    auto const x = std::sin(static_cast<float>(i)) * std::exp(static_cast<float>(i % 17));
    lanes.add(x);
    expected[i % 64] += x;
  }
  for (auto n = 32; n > 0; n /= 2)
    for (auto j = 0; j < n; ++j) expected[j] += expected[j + n];
  CHECK(lanes.total() == expected[0]);
}
TEST_CASE("accumulate: the neutral element keeps signs, NaN wins") {
  auto zeros = reductions::lanes<reductions::adds, float>{};
  zeros.add(-0.0F);
  CHECK(std::signbit(zeros.total()));
  auto most = reductions::lanes<reductions::takes_larger, double>{};
  for (auto const x : {1.0, std::nan(""), 5.0, 2.0}) most.add(x);
  CHECK(std::isnan(most.total()));
  auto least = reductions::lanes<reductions::takes_smaller, double>{};
  for (auto const x : {3.0, -1.0, 5.0}) least.add(x);
  CHECK(least.total() == -1);
}
