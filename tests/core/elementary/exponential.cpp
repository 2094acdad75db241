// SPDX-License-Identifier: MIT
#include <tessera/core/elementary/exponential.hpp>

#include "sameness.hpp"

using namespace tessera;

// -- values at compile time -----------------------------------------------------------------------
static_assert(lane::exp(0.0F) == 1.0F && lane::exp(-1000.0) == 0.0 && lane::log(1.0) == 0.0);
static_assert(lane::abs(lane::exp(1.0) - 2.718281828459045) < 1e-15);
static_assert(lane::log(10.0) == 2.302585092994046);
static_assert(lane::exp(1000.0F) == std::numeric_limits<float>::infinity());
static_assert(lane::log(0.0) == -std::numeric_limits<double>::infinity());
static_assert(lane::expm1(1e-20) == 1e-20 && lane::log1p(1e-20) == 1e-20);
static_assert(lane::exp(-100.0F) > 0 && lane::exp(-100.0F) < 1e-43F, "subnormal results");

SAME_BITS(exp)
SAME_BITS(expm1)
SAME_BITS(log)
SAME_BITS(log1p)

TEMPLATE_TEST_CASE("exp_of_negative: exp, for vectors as for numbers", "", float, double) {
  using T = TestType;
  auto const most = static_cast<T>(sizeof(T) == 4 ? 87 : 708);
  auto const f = [=](auto x) { return lane::exp_of_negative(lane::limited_negative(x, most)); };
  auto source = test::patterns<T>{};
  for (auto k = 0; k < 20000; ++k) {
    auto const x = source.next();
    if (std::isnan(x)) continue;
    auto const value = f(x);
    auto const exact =
        std::exp(-std::min(std::abs(static_cast<long double>(x)), static_cast<long double>(most)));
    auto const off = std::abs(static_cast<long double>(value) - exact) / exact;
    if (not(off < 4 * std::numeric_limits<T>::epsilon())) FAIL(x);
    T of_vector[lane::pack<T>::width];
    lane::store(of_vector, f(lane::pack<T>(x)));
    if (of_vector[0] != value) FAIL(x);
  }
}

TEST_CASE("exp, log: special values") {
  auto const inf = std::numeric_limits<float>::infinity();
  auto const nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(lane::exp(nan)));
  CHECK(lane::exp(-inf) == 0);
  CHECK(lane::expm1(-inf) == -1);
  CHECK(lane::expm1(inf) == inf);
  CHECK(std::signbit(lane::expm1(-0.0F)));
  CHECK(std::isnan(lane::log(-1.0F)));
  CHECK(lane::log(inf) == inf);
  CHECK(std::isnan(lane::log(nan)));
  CHECK(lane::log1p(-1.0F) == -inf);
  CHECK(std::isnan(lane::log1p(-1.5F)));
  CHECK(std::signbit(lane::log1p(-0.0F)));
  CHECK(lane::log(std::numeric_limits<double>::denorm_min()) == Approx(-744.4400719213812));
}
