// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/cuda.hpp>
#include <tessera/ops/embedding.hpp>

#include <vector>

using namespace tessera;

TEST_CASE("embedding: the nearest whole number names the row") {
  static_assert(detail::row_or_end(3.0F, 4) == 3);
  static_assert(detail::row_or_end(2.6, 4) == 3);
  static_assert(detail::row_or_end(-0.2F, 4) == 0);
  CHECK(detail::row_or_end(16777214.0F, 16777215) == 16777214);
}
TEMPLATE_TEST_CASE("embedding: on cuda a number that names no row gives NaN and adds nothing", "",
                   float, double, std::int32_t, std::int64_t, std::uint8_t) {
  using on_device = kernel_for<detail::embedding_fn, cuda>;
  constexpr auto rows = std::size_t{3};
  auto const table = std::vector<float>{0, 1, 10, 11, 20, 21};
  auto const weight = weight_matrix<float, float>{table.data(), 2, 1};
  auto const x = std::vector<TestType>{2, static_cast<TestType>(-1), 0, 3, 2, 100};
  auto y = std::vector<float>(x.size() * 2);
  on_device::forward(x.size(), x.data(), rows, 2, weight, y.data());
  for (auto const i : {1U, 3U, 5U}) CHECK((std::isnan(y[2 * i]) && std::isnan(y[2 * i + 1])));
  for (auto const i : {0U, 2U, 4U}) CHECK(y[2 * i + 1] == static_cast<float>(x[i]) * 10 + 1);
  auto const dy = std::vector<float>(x.size() * 2, 1.0F);
  auto dweight = std::vector<float>(6);
  on_device::parameters(x.size(), x.data(), rows, 2, dy.data(), dweight.data());
  CHECK(dweight == std::vector<float>{1, 1, 0, 0, 2, 2});
}
TEST_CASE("embedding: on cuda what is not a number names no row either") {
  auto const x = std::nanf("");
  auto const table = std::vector<float>{1, 2};
  auto y = 0.0F;
  kernel_for<detail::embedding_fn, cuda>::forward(
      1, &x, 2, 1, weight_matrix<float, float>{table.data(), 1, 1}, &y);
  CHECK(std::isnan(y));
}
