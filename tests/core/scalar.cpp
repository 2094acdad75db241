// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <support/golden.hpp>
#include <tessera/core/scalar.hpp>

#include <bit>
#include <cmath>

using namespace tessera;

// -- contract, values by hand ---------------------------------------------------------------------
static_assert(sizeof(bf16) == 2 && std::is_trivially_copyable_v<bf16>);
static_assert(std::is_same_v<compute_of<bf16>, float> &&
              std::is_same_v<compute_of<double>, double>);
static_assert(bf16(1.0F).bits == 0x3F80 && static_cast<float>(bf16(-2.5F)) == -2.5F);
static_assert(f16(1.0F).bits == 0x3C00 && static_cast<float>(f16(65504.0F)) == 65504.0F);
static_assert(f16(65520.0F).bits == 0x7C00, "beyond the largest: infinite");

// -- laws -----------------------------------------------------------------------------------------
TEMPLATE_TEST_CASE("16-bit scalars: every pattern survives a way through float", "", bf16, f16) {
  for (auto b = 0U; b < 65536U; ++b) {
    auto x = TestType{};
    x.bits = static_cast<std::uint16_t>(b);
    auto const back = TestType(static_cast<float>(x));
    if (std::isnan(static_cast<float>(x))) {
      CHECK(std::isnan(static_cast<float>(back)));
    } else if (back.bits != x.bits) {
      FAIL("pattern " << b << " became " << back.bits);
    }
  }
}
TEMPLATE_TEST_CASE("16-bit scalars: round to the nearest, ties to even", "", bf16, f16) {
  for (auto b = 1U; b < 0x7B00U; b += 7) {  // halfway between two neighbours, and a little off it
    auto low = TestType{};
    auto high = TestType{};
    low.bits = static_cast<std::uint16_t>(b);
    high.bits = static_cast<std::uint16_t>(b + 1);
    auto const middle = static_cast<float>((static_cast<double>(static_cast<float>(low)) +
                                            static_cast<double>(static_cast<float>(high))) /
                                           2);
    CHECK(TestType(middle).bits == (b % 2 == 0 ? low.bits : high.bits));
    CHECK(TestType(std::nextafter(middle, 0.0F)).bits == low.bits);
    CHECK(TestType(std::nextafter(middle, INFINITY)).bits == high.bits);
  }
}

// -- reference: tests/reference/scalar.py ---------------------------------------------------------
TEST_CASE("16-bit scalars: agree with torch") {
  auto const g = test::golden("scalar");
  for (auto i = std::size_t{0}; i < g["x"].size(); ++i) {
    auto const x = static_cast<float>(g["x"][i]);
    INFO(x);
    CHECK(bf16(x).bits == static_cast<std::uint16_t>(g["bf16"][i]));
    CHECK(f16(x).bits == static_cast<std::uint16_t>(g["f16"][i]));
  }
}
