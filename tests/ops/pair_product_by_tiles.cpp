// SPDX-License-Identifier: MIT
#include <support/block_kernels.hpp>

#include <sys/mman.h>
#include <unistd.h>

using namespace tessera;

namespace {

using stored = as_stored<bf16>;

/// detail::add_normal by a fused multiply-add, which a matrix unit has whatever this is compiled
/// for.
[[nodiscard]] auto add_fused(float sum, float w, float x) -> float {
  constexpr auto least = 0x1p-126F;
  constexpr auto up = 0x1p24F;
  auto const result = std::fma(w, x, sum);
  if (std::abs(result) != least) return detail::normal_or_zero(result);
  auto const is_w_smaller = std::abs(w) < std::abs(x);
  auto const larger = std::fma(is_w_smaller ? w * up : w, is_w_smaller ? x : x * up, sum * up);
  return std::abs(larger) < least * up ? result * 0.0F : result;
}
/// A sum goes on by 32 numbers: the even ones from zero, the odd ones too, then both.
[[nodiscard]] auto by_32(float sum, bf16_pairs const* w, detail::rounded_pairs const* x,
                         std::size_t blocks) -> float {
  sum = detail::normal_or_zero(sum);
  for (auto b = std::size_t{0}; b < blocks; b += 2) {
    float of[2] = {};
    for (auto k = std::size_t{0}; k < 32; ++k) {
      auto const lacks = b + k / 16 == blocks;  // zeros, then
      auto const of_w = lacks ? 0.0F : static_cast<float>(w[b + k / 16].numbers[k % 16]);
      auto const of_x = lacks ? 0.0F : static_cast<float>(x[b + k / 16].numbers[k % 16]);
      of[k % 2] = add_fused(of[k % 2], detail::normal_or_zero(of_w), of_x);
    }
    sum = detail::normal_or_zero(sum + detail::normal_or_zero(of[0] + of[1]));
  }
  return sum;
}

/// `relaxed` beside its definition: by 32 numbers with a matrix unit, the bits of `reference`
/// without one.
template <std::size_t In, std::size_t Out>
struct beside_definition : test::both_kernels<stored, In, Out> {
  void define(std::size_t rows, bool biased) {
    if (not lane::has_matrix_unit()) {
      this->template run<reference>(*this->want, rows, biased);
      return;
    }
    constexpr auto of_row = In / 16;
    auto rounded = std::vector<detail::rounded_pairs>(of_row);
    for (auto r = std::size_t{0}; r < rows; ++r) {
      for (auto b = std::size_t{0}; b < of_row; ++b)
        detail::round_block(this->x->data() + r * In + b * 16, rounded[b]);
      for (auto o = std::size_t{0}; o < Out; ++o)
        this->want->data()[r * Out + o] =
            by_32(biased ? this->bias(o) : 0.0F, this->blocks.data() + o * of_row, rounded.data(),
                  of_row);
    }
  }
  void alike(std::size_t rows, bool biased) {
    INFO(In << " to " << Out << ", " << rows << " rows");
    test::poison(*this->want);
    test::poison(*this->y);
    define(rows, biased);
    this->template run<relaxed>(*this->y, rows, biased);
    this->check_numbers();
  }
};
template <std::size_t In, std::size_t Out> void alike() {
  auto both = beside_definition<In, Out>{};
  for (auto const rows : {0U, 1U, 2U, 15U, 16U, 17U, 31U, 32U, 33U, 48U, 134U})
    both.alike(rows, rows % 2 == 0);
  auto r = torch_generator(9);
  test::put_extremes(both.x->data(), 25 * In, In / 16, r);
  for (auto const rows : {9U, 25U}) both.alike(rows, true);
}

/// Weights before a page that nobody may read.
template <std::size_t Out> void at_the_end_of_memory() {
  constexpr auto in = std::size_t{48};
  constexpr auto bytes = in * Out * sizeof(bf16);
  auto both = test::both_kernels<stored, in, Out>{};
  auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto const room = (bytes + page - 1) / page * page;
  auto* const memory = static_cast<std::byte*>(
      mmap(nullptr, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  REQUIRE(memory != MAP_FAILED);
  REQUIRE(mprotect(memory + room, page, PROT_NONE) == 0);
  both.template run<relaxed>(*both.want, 33, true);
  std::memcpy(memory + room - bytes, both.blocks.data(), bytes);
  both.w.values = reinterpret_cast<stored const*>(memory + room - bytes);
  both.template run<relaxed>(*both.y, 33, true);
  CHECK(std::memcmp(both.y->data(), both.want->data(), 33 * Out * sizeof(float)) == 0);
  munmap(memory, room + page);
}

}  // namespace

TEST_CASE("pair_product_by_tiles: the sums of its definition, whatever the shape") {
  WARN((lane::has_matrix_unit() ? "by a matrix unit" : "without a matrix unit"));
  alike<16, 1>();
  alike<32, 16>();
  alike<48, 65>();
  alike<176, 33>();
  alike<576, 32>();
  alike<2064, 47>();  // in parts of the depth
}
TEST_CASE("pair_product_by_tiles: more weights than stay near") {
  auto both = beside_definition<4048, 320>{};
  for (auto const rows : {8U, 70U}) both.alike(rows, rows == 8);
}
TEST_CASE("pair_product_by_tiles: sums as small as they can be") {
  auto both = beside_definition<32, 33>{};
  for (auto o = std::size_t{0}; o < 33; ++o) {
    both.bias(o) = std::bit_cast<float>(std::bit_cast<std::uint32_t>(both.bias(o)) & 0x80FFFFFFU);
    for (auto b = std::size_t{0}; b < 2; ++b)
      for (auto& number : both.blocks[2 * o + b].numbers)
        number = bf16(static_cast<float>(o % 2 == 0 ? number : bf16(1.5F)) * 0x1p-100F);
  }
  for (auto i = std::size_t{0}; i < 25 * 32; ++i)
    both.x->data()[i] = std::ldexp(i % 3 == 0 ? 1.0F : -1.0F, -20 - static_cast<int>(i % 40));
  for (auto const rows : {1U, 25U}) both.alike(rows, true);
}
TEST_CASE("pair_product_by_tiles: a row has the same bits in any company") {
  auto both = test::both_kernels<stored, 2064, 47>{};
  both.run<relaxed>(*both.want, 134, true);
  for (auto const rows : {1U, 16U, 32U, 37U, 70U}) {
    both.run<relaxed>(*both.y, rows, true);
    CHECK(std::memcmp(both.y->data(), both.want->data(), rows * 47 * sizeof(float)) == 0);
  }
}
TEST_CASE("pair_product_by_tiles: sums are within their bound of the exact ones") {
  auto both = test::both_kernels<stored, 576, 24>{};
  for (auto i = std::size_t{0}; i < 3 * 576; ++i)
    both.x->data()[i] =
        static_cast<float>(bf16(both.x->data()[i]));  // which rounding does not change
  both.run<relaxed>(*both.y, 3, true);
  auto const sums = lane::has_matrix_unit() ? 576 / 32 + 18 : 576;
  for (auto r = std::size_t{0}; r < 3; ++r)
    for (auto o = std::size_t{0}; o < 24; ++o) {
      auto const exact = both.exact(r, o);
      CHECK(std::abs(double{both.y->data()[r * 24 + o]} - exact.value) <=
            sums * 0x1p-23 * exact.sizes);
    }
}
TEST_CASE("pair_product_by_tiles: x is rounded to the nearest bf16") {
  auto both = test::both_kernels<stored, 16, 1>{};
  for (auto& number : both.blocks[0].numbers) number = bf16(1.0F);
  for (auto i = std::size_t{0}; i < 16; ++i) both.x->data()[i] = 1 + 0x1p-8F;
  both.run<relaxed>(*both.y, 1, false);
  CHECK(both.y->data()[0] == 16);  // 2^-8 of it less: the bound
}
TEST_CASE("pair_product_by_tiles: reads its weights, and nothing behind them") {
  at_the_end_of_memory<1>();
  at_the_end_of_memory<16>();
  at_the_end_of_memory<47>();
  at_the_end_of_memory<64>();
}
TEST_CASE("pair_product_by_tiles: by two threads at a time") {
  test::by_two_threads<stored, relaxed>();
}
TEST_CASE("pair_product_by_tiles: threads share outputs or rows, with the same bits") {
  test::shared_alike<stored, relaxed>();
  test::shared_alike<stored, relaxed, 2064, 47>({134});  // rows, as there are few outputs
}
TEST_CASE("pair_product_by_tiles: its share of the stack, however many rows and blocks") {
  auto both = test::both_kernels<stored, 8256, 34>{};
  auto const without = lane::pack<float>::width > 4 ? 64U : 16U;
  auto const kilobytes = lane::has_matrix_unit() ? 400U : without;
  for (auto const rows : {1U, 24U, 134U})
    test::keeps_to_its_stack([&] { both.run<relaxed>(*both.y, rows, true); }, kilobytes);
}
TEST_CASE("pair_product_by_tiles: other blocks have the bits of simd") {
  auto both = test::both_kernels<as_stored<q4_1>, 64, 40>{};
  both.run<simd>(*both.want, 33, true);
  both.run<relaxed>(*both.y, 33, true);
  CHECK(std::memcmp(both.y->data(), both.want->data(), 33 * 40 * sizeof(float)) == 0);
}
