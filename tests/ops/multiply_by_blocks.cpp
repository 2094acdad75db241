// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/ops/simd/multiply_by_blocks.hpp>

#include <vector>

using namespace tessera;

namespace {

/// Whether the product by blocks has the bits of the product, and touches nothing beyond C.
template <class T>
[[nodiscard]] auto has_the_bits(std::size_t rows, std::size_t columns, std::size_t depth,
                                tiles::start from, bool transposed) -> bool {
  auto const fill = [](std::size_t n, std::uint64_t seed) {
    auto v = std::vector<T>(n);
    torch_generator(seed).uniform(v.data(), n, -1, 1);
    return v;
  };
  auto const a = fill((rows + 3) * (depth + 3), 1);
  auto const b = fill(depth * (columns + 5), 2);
  auto const bias = fill(columns, 3);
  auto c = fill(rows * (columns + 2), 4);
  auto want = c;
  auto p = tiles::product<T>{.rows = rows,
                             .columns = columns,
                             .depth = depth,
                             .a = a.data(),
                             .a_row = transposed ? 1 : depth + 3,
                             .a_depth = transposed ? rows + 3 : 1,
                             .b = b.data(),
                             .b_depth = columns + 5,
                             .c = want.data(),
                             .c_row = columns + 2,
                             .from = from,
                             .bias = bias.data()};
  tiles::multiply<T>(p);
  p.c = c.data();
  tiles::multiply_by_blocks<T>(p);
  return std::memcmp(c.data(), want.data(), c.size() * sizeof(T)) == 0;
}

}  // namespace

TEMPLATE_TEST_CASE("multiply_by_blocks: the bits of the product", "", float, double) {
  using T = TestType;
  auto r = torch_generator(1);
  constexpr tiles::start starts[] = {tiles::start::zero, tiles::start::bias, tiles::start::c};
  for (auto round = 0; round < 60; ++round) {
    auto const rows = 1 + r.randint(230);
    auto const columns = 1 + r.randint(300);
    auto const depth = 1 + r.randint(round % 2 == 0 ? 40 : 400);
    INFO(rows << " x " << columns << ", depth " << depth);
    CHECK(has_the_bits<T>(rows, columns, depth, starts[round % 3], round % 5 != 0));
  }
}
TEMPLATE_TEST_CASE("multiply_by_blocks: what gains by them", "", float, double) {
  using T = TestType;
  auto p = tiles::product<T>{};
  p.rows = 512;
  p.columns = p.b_depth = 64;
  p.depth = 3168;
  p.a_row = 1;
  p.a_depth = 512;
  p.from = tiles::start::c;
  CHECK(gains_by_blocks(p));
  p.from = tiles::start::c_last;  // what is in C cannot be added after all blocks
  CHECK_FALSE(gains_by_blocks(p));
  p.from = tiles::start::c;
  p.depth = 100;  // A stays in a cache
  CHECK_FALSE(gains_by_blocks(p));
  p.depth = 3168;
  p.a_row = 3168;  // A as it lies
  p.a_depth = 1;
  CHECK_FALSE(gains_by_blocks(p));
  p.b_depth = 1024;  // a large B
  CHECK(gains_by_blocks(p));
  p.rows = 32;  // that is read for few rows
  CHECK_FALSE(gains_by_blocks(p));
}
