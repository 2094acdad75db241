// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/tensor/weights.hpp>

using namespace tessera;

TEST_CASE("weights: of tensors and views, rows from their first number on") {
  auto w = tensor<float, shape<3, 2>>{{1, 2, 3, 4, 5, 6}};
  auto const m = weights_of<float>(w);
  CHECK(m.at(0, 0) == 1);
  CHECK(m.at(2, 1) == 6);
  CHECK(m.transposed().at(1, 2) == 6);
  CHECK(weights_of<float>(as_const(w)).data == w.data());
  STATIC_REQUIRE(std::same_as<stored_of<decltype(w)>, float>);
  STATIC_REQUIRE_FALSE(by_columns<decltype(w)>);
}
TEST_CASE("weights: narrow numbers are widened as they are read, and scaled") {
  bf16 const half[] = {bf16{0.5F}, bf16{-3}, bf16{1e30F}, bf16{0}};
  auto const of_16 = weight_matrix<float, bf16>{half, 2, 1};
  CHECK(of_16.at(0, 1) == -3);
  CHECK(of_16.at(1, 0) == static_cast<float>(bf16{1e30F}));
  CHECK(weight_matrix<double, bf16>{half, 2, 1}.at(0, 0) == 0.5);

  std::int8_t const small[] = {1, -127, 3, 100};
  float const scale[] = {0.5F, 0.1F};
  auto const of_8 = weight_matrix<float, std::int8_t>{small, 2, 1, {scale, 1, 0}};
  CHECK(of_8.at(0, 1) == -63.5F);
  CHECK(of_8.at(1, 1) == 100 * 0.1F);
  CHECK(of_8.transposed().at(1, 0) == -63.5F);
  STATIC_REQUIRE(sizeof(weight_matrix<float>) == sizeof(void*) + 2 * sizeof(std::size_t));
  STATIC_REQUIRE(storable_as<std::int8_t, double>);
  STATIC_REQUIRE_FALSE(storable_as<double, float>);
}
TEST_CASE("weights: every value of 16 and 8 bits becomes the float that it stands for") {
  auto const same = [](float x, double y) { return x == y || (x != x && y != y); };
  auto wrong = 0;
  for (auto bits = 0U; bits < 0x10000U; ++bits) {
    auto b = bf16{};
    auto h = f16{};
    b.bits = h.bits = static_cast<std::uint16_t>(bits);
    if (not same(widened<float>(b), std::bit_cast<float>(bits << 16))) ++wrong;
    // By the formats: (-1)^s · 1.m · 2^(e - 15), and m · 2^-24 below 2^-14.
    auto const sign = (bits & 0x8000U) != 0 ? -1.0 : 1.0;
    auto const exponent = static_cast<int>(bits >> 10 & 31U);
    auto const mantissa = static_cast<double>(bits & 1023U);
    auto const value = exponent == 31  ? (mantissa == 0 ? HUGE_VAL : std::nan(""))
                       : exponent == 0 ? std::ldexp(mantissa, -24)
                                       : std::ldexp(1024 + mantissa, exponent - 25);
    if (not same(widened<float>(h), sign * value)) ++wrong;
  }
  CHECK(wrong == 0);
  CHECK(widened<float>(std::int8_t{-128}) == -128);
  CHECK(widened<double>(std::int8_t{127}) == 127);
}
