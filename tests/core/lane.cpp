// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/core/lane.hpp>
#include <tessera/random/torch.hpp>

#include <cmath>
#include <cstring>

using namespace tessera;

// -- values by hand -------------------------------------------------------------------------------
static_assert(lane::fma(2.0F, 3.0F, 1.0F) == 7.0F && lane::sqrt(9.0) == 3.0);
static_assert(lane::sqrt(2.0) == 1.4142135623730951 && lane::sqrt(2.0F) == 1.41421356F);
static_assert(lane::min(1.0F, 2.0F) == 1.0F && lane::copysign(3.0, -0.0) == -3.0);
static_assert(lane::nearest(2.5).value == 2.0 && lane::nearest(-3.5F).value == -4.0F);
static_assert(lane::polynomial(2.0, 1, 2, 3) == 11.0);
#if TESSERA_FMA
static_assert(lane::fma(1.0F + 0x1p-23F, 1.0F - 0x1p-23F, -1.0F) == -0x1p-46F, "one rounding");
#endif

/// Numbers of all magnitudes within the range of constant_fma.
template <class T> auto any_number(torch_generator& g) -> T {
  auto const magnitude = std::pow(2.0, static_cast<double>(g.randint(120)) - 60.0);
  return static_cast<T>((g.rand<double>() - 0.5) * magnitude);
}
TEMPLATE_TEST_CASE("lane: the constant fma and root are those of the processor", "", float,
                   double) {
  auto g = torch_generator(1);
  for (auto k = 0; k < 200000; ++k) {
    auto const a = any_number<TestType>(g);
    auto const b = any_number<TestType>(g);
    auto c = any_number<TestType>(g);
    if (k % 2 == 0)
      c = -a * b * (1 + static_cast<TestType>(k % 5) * std::numeric_limits<TestType>::epsilon());
    if (lane::detail::constant_fma(a, b, c) != std::fma(a, b, c)) FAIL(a << " " << b << " " << c);
    if (lane::detail::constant_sqrt(std::abs(a)) != std::sqrt(std::abs(a))) FAIL(a);
  }
  CHECK(lane::detail::constant_sqrt(TestType{0}) == 0);
  CHECK(lane::detail::constant_sqrt(std::numeric_limits<TestType>::denorm_min()) ==
        std::sqrt(std::numeric_limits<TestType>::denorm_min()));
  CHECK(lane::detail::constant_sqrt(std::numeric_limits<TestType>::max()) ==
        std::sqrt(std::numeric_limits<TestType>::max()));
  CHECK(std::isnan(lane::detail::constant_sqrt(TestType{-1})));
  CHECK(std::isinf(lane::detail::constant_sqrt(std::numeric_limits<TestType>::infinity())));
}
TEMPLATE_TEST_CASE("lane: NaN goes to the second operand of min and max", "", float, double) {
  auto const nan = std::numeric_limits<TestType>::quiet_NaN();
  CHECK(lane::min(nan, TestType{1}) == 1);
  CHECK(std::isnan(lane::min(TestType{1}, nan)));
  CHECK(lane::max(nan, TestType{1}) == 1);
  CHECK(std::isnan(lane::max(TestType{1}, nan)));
}
TEST_CASE("lane: powers of two and small integers from bits") {
  CHECK(lane::power_of_two(lane::nearest(-126.0F)) == 0x1p-126F);
  CHECK(lane::power_of_two(lane::nearest(1023.0)) == 0x1p1023);
  CHECK(lane::small_to_float<float>(8388607U) == 8388607.0F);
}
