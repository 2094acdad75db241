// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/ops/simd/multiply_by_blocks.hpp>

#include <vector>

using namespace tessera;

namespace {

template <class T> [[nodiscard]] auto random_numbers(std::size_t n, std::uint64_t seed) {
  auto v = std::vector<T>(n);
  torch_generator(seed).uniform(v.data(), n, -1, 1);
  return v;
}
/// Whether `other(product, sums)` has the bits of the product, those of the sums of A's rows, and
/// touches nothing beyond C.
template <class T>
[[nodiscard]] auto has_the_bits(std::size_t rows, std::size_t columns, std::size_t depth,
                                tiles::start from, bool transposed, auto const& other) -> bool {
  auto const a = random_numbers<T>((rows + 3) * (depth + 3), 1);
  auto const b = random_numbers<T>(depth * (columns + 5), 2);
  auto const bias = random_numbers<T>(columns, 3);
  auto c = random_numbers<T>(rows * (columns + 2), 4);
  auto want = c;
  auto sums = random_numbers<T>(rows, 5);
  auto want_sums = sums;
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
  for (auto k = std::size_t{0}; transposed && k < depth; ++k)
    for (auto r = std::size_t{0}; r < rows; ++r) want_sums[r] += a[k * p.a_depth + r];
  p.c = c.data();
  other(p, transposed ? sums.data() : nullptr);
  return std::memcmp(c.data(), want.data(), c.size() * sizeof(T)) == 0 &&
         std::memcmp(sums.data(), want_sums.data(), rows * sizeof(T)) == 0;
}

}  // namespace

TEMPLATE_TEST_CASE("multiply_by_blocks: the bits of the product and of the sums", "", float,
                   double) {
  using T = TestType;
  auto r = torch_generator(1);
  constexpr tiles::start starts[] = {tiles::start::zero, tiles::start::bias, tiles::start::c};
  for (auto round = 0; round < 60; ++round) {
    auto const rows = 1 + r.randint(round % 7 == 0 ? 1200 : 230);
    auto const columns = 1 + r.randint(300);
    auto const depth = 1 + r.randint(round % 2 == 0 ? 40 : 400);
    INFO(rows << " x " << columns << ", depth " << depth);
    CHECK(has_the_bits<T>(rows, columns, depth, starts[round % 3], round % 5 != 0,
                          [](auto const& p, T* sums) { tiles::multiply_by_blocks<T>(p, sums); }));
  }
}
TEMPLATE_TEST_CASE("multiply_narrow: the bits of the product and of the sums", "", float, double) {
  using T = TestType;
  auto r = torch_generator(2);
  constexpr tiles::start starts[] = {tiles::start::zero, tiles::start::c, tiles::start::c_last};
  for (auto round = 0; round < 60; ++round) {
    auto const columns = 1 + r.randint(lane::pack<T>::width - 1);
    auto const rows = columns + 1 + r.randint(300);
    auto const depth = r.randint(round % 2 == 0 ? 40 : 700);
    INFO(rows << " x " << columns << ", depth " << depth);
    CHECK(
        has_the_bits<T>(rows, columns, depth, starts[round % 3], true, [](auto const& p, T* sums) {
          REQUIRE(is_narrow(p));
          tiles::multiply_narrow<T>(p, sums);
        }));
  }
}
TEMPLATE_TEST_CASE("multiply_by_blocks: what gains by them", "", float, double) {
  using T = TestType;
  auto p = tiles::product<T>{};
  p.rows = 512;
  p.columns = p.b_depth = 32;
  p.depth = 3168;
  p.a_row = 1;
  p.a_depth = 512;
  p.from = tiles::start::c;
  CHECK(gains_by_blocks(p));
  p.from = tiles::start::c_last;  // what is in C cannot be added after all blocks
  CHECK_FALSE(gains_by_blocks(p));
  p.from = tiles::start::c;
  p.depth = 120;  // A stays in a cache
  CHECK_FALSE(gains_by_blocks(p));
  p.depth = 3168;
  p.a_row = 3168;  // A as it lies
  p.a_depth = 1;
  CHECK_FALSE(gains_by_blocks(p));
  p.b_depth = 1024;  // a large B
  CHECK(gains_by_blocks(p));
  p.rows = 64;  // that is read for few rows
  CHECK_FALSE(gains_by_blocks(p));
}
