// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/optim/averaging.hpp>

using namespace tessera;

TEST_CASE("averaging: early steps follow the parameters, late ones the decay") {
  using P = parameters_of<linear<1, 1>, owned<double>>;
  auto average = P{};
  auto p = P{};
  p.weight = 10;
  p.bias = -20;
  auto const rule = exponential_average{.decay = 0.75};
  rule.update(average, p, 0);  // decay 1/10
  CHECK(average.weight.values[0] == Approx(9));
  CHECK(average.bias.values[0] == Approx(-18));
  p.weight = 1;
  rule.update(average, p, 1000);
  CHECK(average.weight.values[0] == Approx(0.75 * 9 + 0.25 * 1));
  CHECK(rule.decay_at(20) == Approx(21.0 / 30));
  CHECK(rule.decay_at(21) == Approx(22.0 / 31));
  CHECK(rule.decay_at(1000) == 0.75);
}
TEST_CASE("averaging: a decay is a share") {
  auto p = parameters_of<linear<1, 1>, owned<double>>{};
  auto average = p;
  p.weight = 3;
  exponential_average{.decay = 0}.update(average, p, 7);
  CHECK(average.weight.values[0] == 3);
  for (auto const bad : {-0.1, 1.1, static_cast<double>(NAN)})
    CHECK_THROWS_WITH(exponential_average{.decay = bad}.update(average, p, 0),
                      "exponential_average: decay must be in [0, 1]");
}
