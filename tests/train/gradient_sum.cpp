// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/train/gradient_sum.hpp>

using namespace tessera;

namespace {
using P = parameters_of<sequential<linear<3, 2>>, owned<float>>;
[[nodiscard]] auto all(float value) -> P {
  auto p = P{};
  for_numbers([&](auto w) { assign(w, w * 0.0F + value); }, p);
  return p;
}
}  // namespace

TEST_CASE("gradient_sum: means over unlike numbers of terms become the mean over all") {
  auto sum = gradient_sum<P>(true);
  auto g = P{};
  for (auto round = 0; round < 2; ++round) {  // the second time begins anew
    sum.add(all(2), 10, 3);
    sum.add(all(6), 2, 1);
    CHECK(sum.take(g) == 8);
    CHECK(test::same_parameters(g, all(3)));
  }
}
TEST_CASE("gradient_sum: batches without terms add nothing, and alone are zeros") {
  auto sum = gradient_sum<P>(true);
  auto g = P{};
  sum.add(all(0), 0, 0);
  sum.add(all(3), 5, 2);
  sum.add(all(0), 0, 0);
  CHECK(sum.take(g) == 5);
  CHECK(test::same_parameters(g, all(3)));
  sum.add(all(0), 0, 0);
  CHECK(sum.take(g) == 0);
  CHECK(test::same_parameters(g, all(0)));
}
