// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/ops/simd/multiply_by_blocks.hpp>

#include <array>
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
TEMPLATE_TEST_CASE("multiply_by_blocks: without a depth, what C starts from", "", float, double) {
  using T = TestType;
  for (auto const rows : {1, 300, 1200})  // one block of A and several, transposed and not
    for (auto const columns : {1, 70, 300})
      for (auto const from : {tiles::start::zero, tiles::start::bias, tiles::start::c})
        for (auto const transposed : {false, true}) {
          INFO(rows << " x " << columns << (transposed ? ", transposed" : ""));
          CHECK(has_the_bits<T>(
              static_cast<std::size_t>(rows), static_cast<std::size_t>(columns), 0, from,
              transposed, [](auto const& p, T* sums) { tiles::multiply_by_blocks<T>(p, sums); }));
        }
}

namespace {

/// B by its columns, as T or narrower, against the reference.
template <class T, class Stored>
void has_the_bits_by_columns(std::size_t rows, std::size_t columns, std::size_t depth, bool adds) {
  auto const a = random_numbers<T>(rows * depth, 1);
  auto const start = random_numbers<T>(rows * columns, 2);
  auto const scales = random_numbers<T>(columns, 3);
  auto b = std::vector<Stored>(columns * (depth + 3));
  auto r = torch_generator(4);
  for (auto& number : b)
    if constexpr (is_scaled<Stored>)
      number = static_cast<Stored>(static_cast<int>(r.randint(255)) - 127);
    else
      number = static_cast<Stored>(static_cast<float>(2 * r.rand<double>() - 1));
  auto const run = [&](auto kernel) {
    auto c = start;
    auto matrix = weight_matrix<T, Stored>{b.data(), 1, depth + 3};
    if constexpr (is_scaled<Stored>) matrix.scales = {scales.data(), 0, 1};
    decltype(kernel)::run(detail::matrix_product<T, Stored>{.rows = rows,
                                                            .columns = columns,
                                                            .depth = depth,
                                                            .a = {a.data(), depth, 1},
                                                            .b = matrix,
                                                            .c = c.data(),
                                                            .c_row = columns,
                                                            .adds = adds});
    return c;
  };
  INFO(rows << " x " << columns << ", depth " << depth);
  CHECK(test::same_bits(run(kernel_for<operation::matrix_product, simd>{}),
                        run(kernel_for<operation::matrix_product, reference>{})));
}

}  // namespace

TEMPLATE_PRODUCT_TEST_CASE("multiply_by_blocks: B by its columns, over several blocks of the depth",
                           "", std::pair,
                           ((float, float), (double, double), (float, bf16), (float, f16),
                            (float, std::int8_t), (double, f16), (double, std::int8_t))) {
  using T = typename TestType::first_type;
  using Stored = typename TestType::second_type;
  for (auto const depth : {0, 1, 127, 128, 129, 300, 530})
    for (auto const rows : {5, 520})  // beside one block of B, and more than stay in a cache
      for (auto const columns : {7, 64, 100}) {
        auto const size = [](int n) { return static_cast<std::size_t>(n); };
        has_the_bits_by_columns<T, Stored>(size(rows), size(columns), size(depth), depth % 2 == 0);
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
TEMPLATE_TEST_CASE("multiply_by_blocks: gains from its thresholds on, and not below", "", float,
                   double) {
  using T = TestType;
  constexpr auto width = lane::pack<T>::width;
  constexpr auto far_apart = tiles::far_apart / sizeof(T);
  constexpr auto large = tiles::large / sizeof(T);
  constexpr auto deeper = tiles::few + 1;
  auto const gains = [](std::size_t rows, std::size_t columns, std::size_t depth, bool transposed,
                        std::size_t b_depth) {
    auto p = tiles::product<T>{};
    p.rows = rows;
    p.columns = columns;
    p.depth = depth;
    p.a_row = transposed ? 1 : depth;
    p.a_depth = transposed ? rows : 1;
    p.b_depth = b_depth;
    return gains_by_blocks(p, true);
  };
  // A transposed A, with a B that is small.
  constexpr auto deep = far_apart / 64;
  CHECK(gains(64, width, deep, true, width));
  CHECK_FALSE(gains(64, width, deep - 1, true, width));  // less than is far apart
  CHECK_FALSE(gains(64, width - 1, deep, true, width));
  CHECK_FALSE(gains(64, width, deep, false, width));
  constexpr auto few = 4 * tiles::rows;
  CHECK(gains(few, width, far_apart / few + 1, true, width));
  CHECK_FALSE(gains(few - 1, width, 2 * far_apart / few, true, width));
  CHECK(gains(far_apart, width, deeper, true, width));
  CHECK_FALSE(gains(far_apart, width, deeper - 1, true, width));
  // A large B, with A as it lies; its panels are too deep, or its rows too far apart, to stay.
  CHECK(gains(tiles::few, width, 2048, false, large / 2048));
  CHECK_FALSE(gains(tiles::few, width, 2047, false, large / 2048));
  CHECK_FALSE(gains(tiles::few, width, 2048, false, large / 2048 - 1));
  CHECK_FALSE(gains(tiles::few - 1, width, 2048, false, large / 2048));
  CHECK_FALSE(gains(tiles::few, width - 1, 2048, false, large / 2048));
  CHECK(gains(tiles::few, width, deeper, false, 16384 / sizeof(T)));
  CHECK_FALSE(gains(tiles::few, width, deeper - 1, false, large));
}
TEMPLATE_TEST_CASE("multiply_narrow: takes fewer columns than a vector has, and fewer than rows",
                   "", float, double) {
  constexpr auto width = lane::pack<TestType>::width;
  auto p = tiles::product<TestType>{};
  p.columns = width - 1;
  p.rows = width;
  p.a_row = 1;
  p.a_depth = width;
  CHECK(is_narrow(p));
  p.rows = width - 1;
  CHECK_FALSE(is_narrow(p));
  p.rows = width + 1;
  p.columns = width;
  CHECK_FALSE(is_narrow(p));
  p.columns = 1;
  p.from = tiles::start::bias;
  CHECK_FALSE(is_narrow(p));
  p.from = tiles::start::c_last;
  CHECK(is_narrow(p));
  p.a_row = 2;
  CHECK_FALSE(is_narrow(p));
  p.a_row = p.a_depth = 1;  // one row, or a row's numbers that follow one another
  CHECK_FALSE(is_narrow(p));
}
TEMPLATE_TEST_CASE("multiply_by_blocks: B stays in place where its rows have places in a cache", "",
                   float, double) {
  using T = TestType;
  auto p = tiles::product<T>{};
  p.rows = p.columns = p.depth = 512;
  p.b_depth = 2048 / sizeof(T);
  CHECK(stays_in_place(p, true) == (tiles::vectors == 4));
  CHECK_FALSE(stays_in_place(p, false));  // a third level that is far away
  p.b_depth = 4096 / sizeof(T);           // sixteen places of 64 KiB, of sixteen lines each
  CHECK_FALSE(stays_in_place(p, true));
  p.depth = 256;
  CHECK(stays_in_place(p, true) == (tiles::vectors == 4));
  p.depth = 512;
  p.b_depth = 8192 / sizeof(T);
  CHECK_FALSE(stays_in_place(p, true));
  p.b_depth = 8192 / sizeof(T) + 64;
  CHECK(stays_in_place(p, true) == (tiles::vectors == 4));
  p.depth = 1100;  // panels that fill a second level
  CHECK_FALSE(stays_in_place(p, true));
}
TEMPLATE_TEST_CASE("multiply_by_blocks: a B is copied that a far third level would hold", "", float,
                   double) {
  using T = TestType;
  constexpr auto wide = tiles::vectors == 4;
  auto p = tiles::product<T>{};
  p.rows = tiles::few;
  p.columns = p.b_depth = 1024 / sizeof(T);
  p.depth = p.a_row = 384;  // 3/8 MiB
  p.a_depth = 1;
  CHECK(gains_by_blocks(p, false) == wide);
  CHECK_FALSE(gains_by_blocks(p, true));
  --p.depth;
  CHECK_FALSE(gains_by_blocks(p, false));
  p.depth = 384;
  p.rows = tiles::few - 1;
  CHECK_FALSE(gains_by_blocks(p, false));
  p.rows = tiles::few;
  p.columns = tiles::panel<T>;  // one panel
  CHECK_FALSE(gains_by_blocks(p, false));
  CHECK(tiles::least_copied(true, true) == tiles::large);
}
TEMPLATE_TEST_CASE("multiply_by_blocks: the bits of the product, by blocks of rows and of depth",
                   "", float, double) {
  for (auto const from : {tiles::start::zero, tiles::start::bias, tiles::start::c})
    // all rows by a column of blocks, by a row of blocks, and rows in several blocks
    for (auto const& [rows, columns, depth] :
         {std::array<std::size_t, 3>{800, 70, 600}, {1200, 70, 1100}, {1600, 130, 520}}) {
      INFO(rows << " x " << columns << ", depth " << depth);
      CHECK(has_the_bits<TestType>(
          rows, columns, depth, from, false,
          [](auto const& p, TestType* sums) { tiles::multiply_by_blocks<TestType>(p, sums); }));
    }
}
TEST_CASE("multiply_by_blocks: many rows are worth a copy that a first level holds") {
  constexpr auto wide = tiles::vectors == 4;
  constexpr auto deepest = 32768 / (tiles::vectors * 4 * lane::pack<float>::width);
  CHECK(tiles::fits_if_copied(512, deepest, 1024) == wide);
  CHECK(tiles::fits_if_copied(512, 32, 1024) == wide);
  CHECK_FALSE(tiles::fits_if_copied(511, deepest, 1024));      // few rows
  CHECK_FALSE(tiles::fits_if_copied(512, deepest + 1, 1024));  // more than a first level holds
  CHECK_FALSE(tiles::fits_if_copied(512, 31, 1024));           // little to multiply
  CHECK_FALSE(tiles::fits_if_copied(512, deepest, 1023));      // held as they lie
  auto p = tiles::product<float>{};
  p.rows = 512;
  p.columns = p.b_depth = 256;
  p.depth = p.a_row = 100;
  p.a_depth = 1;
  CHECK(gains_by_blocks(p) == wide);
  p.from = tiles::start::c_last;
  CHECK_FALSE(gains_by_blocks(p));
  CHECK(tiles::is_distant(std::size_t{1} << 21U) == wide);
  CHECK_FALSE(tiles::is_distant((std::size_t{1} << 21U) - 1));
}
TEST_CASE("multiply_by_blocks: a block of a transposed A leaves a second level's half to C") {
  constexpr auto wide = tiles::vectors == 4;
  CHECK(tiles::depth_of_block(false, 4096, false) == tiles::deepest_block);
  CHECK(tiles::depth_of_block(true, 1024, false) == tiles::block_depth);
  CHECK(tiles::depth_of_block(true, 1025, false) == tiles::block_depth / (wide ? 2 : 1));
  CHECK(tiles::depth_of_block(true, 4096, true) == tiles::block_depth);
}
TEST_CASE("multiply_by_blocks: blocks of rows are equal, and whole tiles") {
  static_assert(tiles::part(1024, 252, 6) == 210);  // five, not four and a rest of 16
  static_assert(tiles::part(256, 252, 6) == 132);
  static_assert(tiles::part(12, 252, 6) == 12);
  static_assert(tiles::part(13, 252, 6) == 18);
  static_assert(tiles::part(0, 252, 6) == 0);
  static_assert(tiles::part(1024, 224, 8) == 208);
  auto p = tiles::product<float>{};
  p.rows = p.depth = 1024;
  p.a_row = 1;
  p.a_depth = 1024;
  CHECK(rows_of_block(p) == 516);  // of 512 KiB
  p.a_row = 1024;
  p.a_depth = 1;
  constexpr auto wide = tiles::vectors == 4;
  constexpr auto deep = tiles::deepest_block;
  CHECK(rows_of_block(p) == (wide ? 1026U : 174U));
  p.rows = 3145728 / 4 / deep;  // 3 MiB of a third level
  if (wide) CHECK(rows_of_block(p) == p.rows);
  ++p.rows;
  if (wide) CHECK(rows_of_block(p) == (p.rows / 2 / 6 + 1) * 6);
  p.rows = 900;
  CHECK(rows_of_block(p) == 900);
  p.depth = 31;
  CHECK(rows_of_block(p) == 900);
}
