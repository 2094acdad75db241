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
  for (auto bits = 0U; bits < 0x10000U; ++bits) {
    auto b = bf16{};
    auto h = f16{};
    b.bits = h.bits = static_cast<std::uint16_t>(bits);
    auto const same = [](float x, float y) { return x == y || (x != x && y != y); };
    CHECK(same(widened<float>(b), static_cast<float>(b)));
    CHECK(same(widened<float>(h), static_cast<float>(h)));
  }
  for (auto i = -128; i < 128; ++i)
    CHECK(widened<float>(static_cast<std::int8_t>(i)) == static_cast<float>(i));
}
