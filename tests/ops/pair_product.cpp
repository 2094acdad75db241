// SPDX-License-Identifier: MIT
#include <support/block_kernels.hpp>

using namespace tessera;
using test::both_kernels;
using test::kernels_agree;

// -- values by hand -------------------------------------------------------------------------------
TEST_CASE("pair_product: x is rounded to bf16, and what is no normal number to zero") {
  float x[numbers_of_block<bf16_pairs>] = {1.00390625F, -1.01171875F, 1e-39F, -1e-39F,
                                           0x1p-126F,   INFINITY,     NAN};
  auto of_x = detail::rounded_pairs{};
  detail::round_block(x, of_x);
  auto const number = [&](std::size_t i) { return static_cast<float>(of_x.numbers[i]); };
  CHECK(number(0) == 1);  // halves: to the even one
  CHECK(number(1) == -1.015625F);
  CHECK(of_x.numbers[2].bits == 0);
  CHECK(of_x.numbers[3].bits == 0x8000U);
  CHECK(number(4) == 0x1p-126F);
  CHECK(number(5) == INFINITY);
  CHECK(std::isnan(number(6)));
}
TEST_CASE("pair_product: pairs add the odd number first, and what is no normal number is zero") {
  auto of_x = detail::rounded_pairs{};
  auto w = bf16_pairs{};
  for (auto i = std::size_t{0}; i < 16; ++i) {
    of_x.numbers[i] = bf16(1.0F);
    w.numbers[i] = bf16(0.0F);
  }
  w.numbers[0] = bf16(0x1p24F);
  w.numbers[1] = bf16(1.0F);
  CHECK(detail::add_block(1.0F, w, of_x) == 0x1p24F + 2);  // with the even one first, 2^24
  w.numbers[0] = w.numbers[1] = bf16(0.0F);
  CHECK(detail::add_block(1e-39F, w, of_x) == 0);
  // Exactly 2^-126 - 1.5·2^-151, which gradual underflow rounds up and this has for too small; and
  // a product that is too small by itself.
  of_x.numbers[0] = bf16(0x1p-51F);
  w.numbers[0] = bf16(-0x1.8p-100F);
  CHECK(detail::add_block(0x1p-126F, w, of_x) == (TESSERA_FMA == 1 ? 0.0F : 0x1p-126F));
  CHECK(detail::add_block(0x1.8p-126F, w, of_x) > 0);
  of_x.numbers[0] = bf16(0x1p-27F);
  w.numbers[0] = bf16(0x1p-100F);
  CHECK(detail::add_block(0x1p-126F, w, of_x) == (TESSERA_FMA == 1 ? 0x1.8p-126F : 0x1p-126F));
  w.numbers[0] = bf16(0.0F);
  w.numbers[4].bits = 0x0040U;  // of 2^-127, which counts as nothing whatever it meets
  of_x.numbers[4] = bf16(0x1p127F);
  CHECK(detail::add_block(0.0F, w, of_x) == 0);
}

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("pair_product: products of bf16 are within its rounding of x from the exact ones") {
  auto kernels = both_kernels<as_stored<bf16>, 576, 24>{};
  kernels.run<simd>(*kernels.y, 3, true);
  auto worst = 0.0;
  for (auto r = std::size_t{0}; r < 3; ++r)
    for (auto o = std::size_t{0}; o < 24; ++o) {
      auto const exact = kernels.exact(r, o);
      auto const error = std::abs(double{kernels.y->data()[r * 24 + o]} - exact.value);
      CHECK(error <= exact.sizes * (0x1p-8 + 576 * 6e-8));
      worst = std::max(worst, error / exact.sizes);
    }
  CHECK(worst > 1e-5);  // it is rounded, and not by chance the same
}
TEST_CASE("pair_product: vectors have the bits of the reference, whatever the shape") {
  using stored = as_stored<bf16>;
  kernels_agree<stored, 16, 1>();
  kernels_agree<stored, 16, 18>();
  kernels_agree<stored, 32, 7>();
  kernels_agree<stored, 48, 33>();
  kernels_agree<stored, 576, 40>();
  kernels_agree<stored, 2064, 34>();
  // More weights than stay near, and eight rows of x that take more than the stack has.
  auto large = both_kernels<stored, 4048, 320>{};
  for (auto const rows : {8U, 33U}) large.alike(rows, rows == 8);
}
TEST_CASE("pair_product: the same where sums are as small as they can be") {
  auto kernels = both_kernels<as_stored<bf16>, 16, 33>{};
  test::fill(kernels.bias, 5);
  for (auto o = std::size_t{0}; o < 33; ++o) {
    kernels.bias(o) =
        std::bit_cast<float>(std::bit_cast<std::uint32_t>(kernels.bias(o)) & 0x80FFFFFFU);
    for (auto k = std::size_t{0}; k < 16; ++k) {
      auto& number = kernels.blocks[o].numbers[k];
      number = bf16(static_cast<float>(o % 2 == 0 ? number : bf16(1.5F)) * 0x1p-100F);
    }
  }
  for (auto i = std::size_t{0}; i < 9 * 16; ++i) kernels.x->data()[i] = -0x1p-51F;
  for (auto const rows : {1U, 9U}) kernels.alike(rows, true);
  for (auto i = std::size_t{0}; i < 9 * 16; ++i)
    kernels.x->data()[i] = std::ldexp(i % 3 == 0 ? 1.0F : -1.0F, -20 - static_cast<int>(i % 40));
  for (auto const rows : {1U, 9U}) kernels.alike(rows, true);
}
TEST_CASE("pair_product: threads share outputs or rows, with the same bits") {
  test::shared_alike<as_stored<bf16>>();
}
TEST_CASE("pair_product: slopes of x are those of the widened weights") {
  using stored = compact_matrix<float, shape<64, 48>, simd, as_stored<bf16>>;
  using wide = compact_matrix<float, shape<64, 48>, simd, bf16>;
  auto w = std::make_unique<tensor<float, shape<64, 48>>>();
  test::fill(*w, 1);
  auto const a = std::make_unique<stored>();
  auto const b = std::make_unique<wide>();
  a->pack(weights_of<float>(*w));
  b->pack(weights_of<float>(*w));
  auto dy = tensor<float, shape<30, 64>>{};
  test::fill(dy, 2);
  auto dx = tensor<float, shape<30, 48>>{};
  auto want = tensor<float, shape<30, 48>>{};
  affine_map_input(*a, as_const(view_of<decltype(dy)>(dy)), view_of<decltype(dx)>(dx));
  affine_map_input(*b, as_const(view_of<decltype(dy)>(dy)), view_of<decltype(want)>(want));
  CHECK(test::same_bits(dx, want));
}
TEST_CASE("pair_product: its share of the stack, however many rows and blocks") {
  test::keeps_to_its_stack<as_stored<bf16>>();
}
TEST_CASE("pair_product: numbers below 2^-126 are again what they were after it") {
  auto kernels = both_kernels<as_stored<bf16>, 32, 40>{};
  kernels.run<simd>(*kernels.y, 2, false);
  auto const volatile least = 0x1p-126F;
  CHECK(least / 2 > 0);
}
