// SPDX-License-Identifier: MIT
#include <support/block_kernels.hpp>

using namespace tessera;
using test::both_kernels;
using test::kernels_agree;
using test::stack_of;

namespace {

using detail::rounded_block;

[[nodiscard]] auto rounded(auto const& value) -> rounded_block {
  float x[block_length];
  for (auto i = std::size_t{0}; i < block_length; ++i) x[i] = value(i);
  auto result = rounded_block{};
  detail::round_block(x, result);
  return result;
}
}  // namespace

// -- values by hand -------------------------------------------------------------------------------
TEST_CASE("block_product: x is rounded to 127 steps of its largest magnitude") {
  auto const b = rounded([](std::size_t i) { return i == 5 ? -254.0F : static_cast<float>(i); });
  CHECK(b.scale == 2);
  CHECK(b.quants[5] == -127);
  CHECK(b.quants[4] == 2);
  CHECK(b.quants[1] == 0);  // half a step: to the even one
  CHECK(b.quants[3] == 2);
  auto sum = 0;
  for (auto const q : b.quants) sum += q;
  CHECK(b.sum == static_cast<float>(sum));
  CHECK(b.scaled_sum == static_cast<float>(2 * sum));
}
TEST_CASE("block_product: zeros, what is nearly zero, and what is not finite") {
  for (auto const small : {0.0F, 1e-31F, 1e-45F}) {
    auto const b = rounded([&](std::size_t i) { return i % 2 == 0 ? small : -small; });
    CHECK(b.scale == 0);
    CHECK(b.quants[7] == 0);
  }
  CHECK(rounded([](std::size_t) { return 1e-30F; }).quants[3] == 127);
  CHECK(rounded([](std::size_t) { return std::numeric_limits<float>::max(); }).quants[3] == 127);
  for (auto const bad : {INFINITY, -INFINITY, NAN}) {
    auto const b = rounded([&](std::size_t i) { return i == 8 ? bad : 1.0F; });
    CHECK(std::isnan(b.scale));
    CHECK(std::isnan(b.scaled_sum));
    CHECK(b.quants[0] == 0);
  }
}
TEST_CASE("block_product: a product by hand") {
  auto const x = rounded([](std::size_t i) { return i == 0 ? 127.0F : i == 16 ? 2.0F : 0.0F; });
  auto const four = q4_1{.d = f16(0.5F).bits, .m = f16(-3.0F).bits, .quants = {0xA4}};
  CHECK(detail::add_block(1.0F, four, x) == 1 + 0.5F * (4 * 127 + 10 * 2) - 3 * 129);
  auto const signed_four = q4_0{.d = f16(0.5F).bits, .quants = {0xA4}};
  CHECK(detail::add_block(1.0F, signed_four, x) == 1 + 0.5F * (-4 * 127 + 2 * 2));
  auto const eight = q8_0{.d = f16(2.0F).bits, .quants = {-128}};
  CHECK(detail::add_block(0.0F, eight, x) == 2.0F * -128 * 127);
}

// -- laws -----------------------------------------------------------------------------------------
TEMPLATE_TEST_CASE("block_product: within half a step of x from the exact product", "", q4_0, q4_1,
                   q8_0) {
  constexpr auto in = std::size_t{576};
  constexpr auto out = std::size_t{24};
  auto const w = std::make_unique<tensor<float, shape<out, in>>>();
  auto const stored =
      std::make_unique<compact_matrix<float, shape<out, in>, simd, as_stored<TestType>>>();
  auto x = tensor<float, shape<3, in>>{};
  auto y = tensor<float, shape<3, out>>{};
  test::fill(*w, 1);
  test::fill(x, 2, 3);
  stored->pack(weights_of<float>(*w));
  auto none = nothing{};
  kernel_for<detail::affine_map_fn, reference>::run(as_const(view_of<decltype(x)>(x)), *stored,
                                                    static_cast<float const*>(nullptr),
                                                    view_of<decltype(y)>(y), none);
  auto worst = 0.0;
  for (auto r = std::size_t{0}; r < 3; ++r)
    for (auto o = std::size_t{0}; o < out; ++o) {
      auto exact = 0.0;
      auto bound = 0.0;
      auto sizes = 0.0;
      for (auto b = std::size_t{0}; b < in; b += block_length) {
        auto largest = 0.0;
        auto magnitudes = 0.0;
        for (auto k = b; k < b + block_length; ++k) {
          auto const weight = static_cast<double>(stored->numbers().at(o, k));
          exact += static_cast<double>(x(r, k)) * weight;
          magnitudes += std::abs(weight);
          largest = std::max(largest, std::abs(static_cast<double>(x(r, k))));
        }
        bound += magnitudes * largest / 254;
        sizes += 2 * magnitudes * largest;
      }
      auto const error = std::abs(static_cast<double>(y(r, o)) - exact);
      CHECK(error <= bound + 18 * 6e-8 * 2 * sizes);
      worst = std::max(worst, error / bound);
    }
  CHECK(worst > 0.001);  // it is rounded, and not by chance the same
}
TEMPLATE_TEST_CASE("block_product: vectors have the bits of the reference, whatever the shape", "",
                   as_stored<q4_0>, as_stored<q4_1>, as_stored<q8_0>, q4_0, q4_1, q8_0) {
  kernels_agree<TestType, 32, 1>();
  kernels_agree<TestType, 32, 7>();
  kernels_agree<TestType, 64, 16>();
  kernels_agree<TestType, 96, 33>();
  kernels_agree<TestType, 576, 40>();
  kernels_agree<TestType, 1536, 17>();
  kernels_agree<TestType, 2080, 34>();
  if constexpr (is_as_stored<TestType>) {
    kernels_agree<TestType, 8256, 18>();
    // More weights than stay near, and eight rows of x that take more than the stack has.
    auto large = both_kernels<TestType, 6016, 640>{};
    for (auto const rows : {8U, 33U}) large.alike(rows, rows == 8);
  }
}
TEMPLATE_TEST_CASE("block_product: its share of the stack, however many rows and blocks", "",
                   as_stored<q4_0>, as_stored<q4_1>, as_stored<q8_0>) {
  test::keeps_to_its_stack<TestType>();
}
TEST_CASE("block_product: threads share outputs or rows, with the same bits") {
  test::shared_alike<as_stored<q4_1>>();
}
