// SPDX-License-Identifier: MIT
#include <support/block_kernels.hpp>

using namespace tessera;

namespace {

using stored = as_stored<bf16>;

/// Many rows of pairs as floats, and all as they are where the processor multiplies them: the
/// reference's bits.
template <std::size_t In, std::size_t Out> struct both_ways : test::both_kernels<stored, In, Out> {
  void run(std::size_t rows, bool biased, bool widened) {
    auto const matrix = weights_of<float>(this->w);
    auto const product = detail::block_product{
        rows, In, Out, this->x->data(), biased ? this->bias.data() : nullptr, this->y->data(), Out};
    detail::block_kernel<stored>{product, matrix}.run(widened);
  }
  void alike(std::size_t rows, bool biased) {
    INFO(In << " to " << Out << ", " << rows << " rows");
    test::poison(*this->want);
    this->template run<reference>(*this->want, rows, biased);
    for (auto const widened : {true, false}) {
      INFO((widened ? "many as floats" : "as pairs"));
      test::poison(*this->y);
      run(rows, biased, widened);
      this->check_numbers();
    }
  }
  using test::both_kernels<stored, In, Out>::run;
};
template <std::size_t In, std::size_t Out> void alike() {
  auto both = both_ways<In, Out>{};
  for (auto const rows : {1U, 9U, 25U, 33U, 70U, 128U, 134U}) both.alike(rows, rows % 2 == 0);
  auto r = torch_generator(9);
  test::put_extremes(both.x->data(), 25 * In, In / 16, r);
  for (auto const rows : {9U, 25U}) both.alike(rows, true);
}

}  // namespace

TEST_CASE("widened_product: many rows have the bits of pairs, whatever the shape") {
  if (not lane::zero_subnormals::possible) return;
  alike<16, 1>();
  alike<32, 65>();
  alike<176, 33>();
  alike<576, 40>();
  alike<2064, 34>();
  alike<4048, 320>();  // outputs in parts
}
TEST_CASE("widened_product: sums as small as they can be") {
  if (not lane::zero_subnormals::possible) return;
  auto both = both_ways<16, 33>{};
  for (auto o = std::size_t{0}; o < 33; ++o) {
    both.bias(o) = std::bit_cast<float>(std::bit_cast<std::uint32_t>(both.bias(o)) & 0x80FFFFFFU);
    for (auto& number : both.blocks[o].numbers)
      number = bf16(static_cast<float>(o % 2 == 0 ? number : bf16(1.5F)) * 0x1p-100F);
  }
  for (auto i = std::size_t{0}; i < 25 * 16; ++i)
    both.x->data()[i] = std::ldexp(i % 3 == 0 ? 1.0F : -1.0F, -20 - static_cast<int>(i % 40));
  both.alike(25, true);
}
TEST_CASE("widened_product: its share of the stack, either way") {
  auto both = both_ways<8256, 34>{};
  for (auto const widened : {true, false})
    for (auto const rows : {25U, 134U})
      test::keeps_to_its_stack([&] { both.run(rows, true, widened); });
}
TEST_CASE("widened_product: numbers below 2^-126 are again what they were after it") {
  auto both = both_ways<32, 40>{};
  both.run(33, false, true);
  auto const volatile least = 0x1p-126F;
  CHECK(least / 2 > 0);
}
