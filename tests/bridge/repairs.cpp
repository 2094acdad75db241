// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/bridge/repairs.hpp>

#include <xtensor/xmath.hpp>
#include <xtensor/xrandom.hpp>
#include <xtensor/xtensor.hpp>

TEST_CASE("repairs: nested broadcasts of fixed tensors have the values of dynamic ones") {
  using matrix = xt::xtensor_fixed<float, xt::xshape<8, 16>>;
  using row = xt::xtensor_fixed<float, xt::xshape<16>>;
  auto const a = xt::xtensor<float, 2>(xt::random::rand<float>({8, 16}));
  auto const b = xt::xtensor<float, 1>(xt::random::rand<float>({16}));
  auto const fa = matrix(a);
  auto const fb = row(b);
  auto const check = [](matrix const& got, xt::xtensor<float, 2> const& want) {
    for (auto i = std::size_t{0}; i < 8; ++i)
      for (auto j = std::size_t{0}; j < 16; ++j) REQUIRE(got(i, j) == Approx(want(i, j)));
  };
  check(matrix(fa + fb), a + b);
  check(matrix(xt::tanh(fa * fb)), xt::tanh(a * b));
  check(matrix(-(fa + fb)), -(a + b));
  check(matrix(xt::exp(fa - fb)), xt::exp(a - b));
  check(matrix((fa + fb) * (fa - fb)), (a + b) * (a - b));
  check(matrix(2.0F * (fa + fb * 3.0F) + 1.0F), 2.0F * (a + b * 3.0F) + 1.0F);
  check(matrix(fa * fa + fa), a * a + a);
}
