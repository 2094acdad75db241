// SPDX-License-Identifier: MIT
#include <support/block_kernels.hpp>

using namespace tessera;
using test::both_kernels;

namespace {

/// Many rows of blocks by a matrix unit, where there is one, and by vectors: the reference's bits.
template <class Block, std::size_t In, std::size_t Out>
struct both_ways : both_kernels<as_stored<Block>, In, Out> {
  using stored = as_stored<Block>;
  using kernel = detail::block_kernel<stored>;

  void run(std::size_t rows, bool biased, [[maybe_unused]] bool by_unit) {
    auto const matrix = weights_of<float>(this->w);
    auto const product = detail::block_product{
        rows, In, Out, this->x->data(), biased ? this->bias.data() : nullptr, this->y->data(), Out};
    if constexpr (kernel::fills_tiles)
      kernel{product, matrix}.run(by_unit);
    else
      kernel{product, matrix}.run();
  }
  void alike(std::size_t rows, bool biased) {
    test::poison(*this->want);
    this->template run<reference>(*this->want, rows, biased);
    for (auto const by_unit : {false, true}) {
      if (by_unit && not(kernel::fills_tiles && lane::has_matrix_unit())) continue;
      INFO(In << " to " << Out << ", " << rows << " rows, "
              << (by_unit ? "by a matrix unit" : "by vectors"));
      test::poison(*this->y);
      run(rows, biased, by_unit);
      this->check_numbers(rows);
    }
  }
  using both_kernels<stored, In, Out>::run;
};
template <class Block, std::size_t In, std::size_t Out> void alike() {
  auto both = both_ways<Block, In, Out>{};
  for (auto const rows : {16U, 20U, 25U, 33U, 47U, 134U}) both.alike(rows, rows % 2 == 0);
  auto r = torch_generator(9);
  test::put_extremes(both.x->data(), 25 * In, 6, r);
  for (auto const rows : {16U, 25U}) both.alike(rows, true);
}

}  // namespace

TEMPLATE_TEST_CASE("block_tile: many rows have the same bits either way", "", q4_0, q4_1, q8_0) {
  using kernel = detail::block_kernel<as_stored<TestType>>;
  WARN((kernel::fills_tiles && lane::has_matrix_unit() ? "by a matrix unit, too" : "by vectors"));
  alike<TestType, 32, 16>();
  alike<TestType, 64, 33>();
  alike<TestType, 1056, 53>();
  alike<TestType, 8256, 34>();  // in parts of the depth
}
TEMPLATE_TEST_CASE("block_tile: its share of the stack, either way", "", q4_0, q4_1, q8_0) {
  auto both = both_ways<TestType, 8256, 34>{};
  for (auto const by_unit : {false, lane::has_matrix_unit()})
    for (auto const rows : {16U, 70U, 134U})
      test::keeps_to_its_stack([&] { both.run(rows, true, by_unit); });
}
TEST_CASE("block_tile: by two threads at a time") { test::by_two_threads<as_stored<q4_1>, simd>(); }
