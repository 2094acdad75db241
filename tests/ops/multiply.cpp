// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/ops/simd/multiply.hpp>

#include <vector>

using namespace tessera;

namespace {

// C (+)= A·B on random numbers and distances, bit for bit what three loops give.
template <class T>
void has_the_bits_of_three_loops(torch_generator& r, std::uint32_t rows, std::uint32_t columns,
                                 std::uint32_t depth, bool transposed, std::size_t distant = 0) {
  auto const a_row = transposed ? std::uint32_t{1} : depth + r.randint(5);
  auto const a_depth = transposed ? rows + r.randint(5) : std::uint32_t{1};
  auto const b_depth = columns + r.randint(5);
  auto const c_row = columns + r.randint(5);
  auto a = std::vector<T>((rows + 5) * (depth + 5) + 25);
  auto b = std::vector<T>(depth * b_depth + columns);
  auto c = std::vector<T>(rows * c_row);
  auto bias = std::vector<T>(columns);
  for (auto* v : {&a, &b, &c, &bias})
    for (auto& x : *v) x = static_cast<T>(r.rand<double>() - 0.5);
  auto const from = static_cast<tiles::start>(r.randint(4));
  auto want = c;
  for (auto i = std::size_t{0}; i < rows; ++i)
    for (auto j = std::size_t{0}; j < columns; ++j) {
      auto sum = from == tiles::start::c      ? c[i * c_row + j]
                 : from == tiles::start::bias ? bias[j]
                                              : T{0};
      for (auto k = std::size_t{0}; k < depth; ++k)
        sum = lane::fma(a[i * a_row + k * a_depth], b[k * b_depth + j], sum);
      want[i * c_row + j] = from == tiles::start::c_last ? c[i * c_row + j] + sum : sum;
    }
  tiles::multiply<T>({.rows = rows,
                      .columns = columns,
                      .depth = depth,
                      .a = a.data(),
                      .a_row = a_row,
                      .a_depth = a_depth,
                      .b = b.data(),
                      .b_depth = b_depth,
                      .c = c.data(),
                      .c_row = c_row,
                      .from = from,
                      .bias = bias.data()},
                     distant);
  INFO(rows << " x " << columns << ", depth " << depth);
  CHECK(std::memcmp(c.data(), want.data(), c.size() * sizeof(T)) == 0);
}

}  // namespace

TEMPLATE_TEST_CASE("multiply: the bits of three loops, and nothing beyond C", "", float, double) {
  auto r = torch_generator(1);
  for (auto round = 0; round < 300; ++round)
    has_the_bits_of_three_loops<TestType>(r, 1 + r.randint(20),
                                          1 + r.randint(round % 3 == 0 ? 200 : 40), r.randint(50),
                                          round % 2 != 0);
}
TEMPLATE_TEST_CASE("multiply: rows of a large A, some at once", "", float, double) {
  auto r = torch_generator(2);
  for (auto const rows : {129U, 131U, 264U, 300U})
    for (auto const transposed : {false, true})
      has_the_bits_of_three_loops<TestType>(r, rows, 1 + r.randint(150), 1100 + r.randint(50),
                                            transposed);
}
TEMPLATE_TEST_CASE("multiply: the same bits where tiles ask for C, or for a part of it", "", float,
                   double) {
  auto r = torch_generator(3);
  for (auto const rows : {6U, 30U, 61U, 100U})
    for (auto const depth : {0U, 1U, 7U, 24U, 25U, 60U})  // fewer steps than lines, and more
      has_the_bits_of_three_loops<TestType>(r, rows, 60 + r.randint(150), depth, depth % 2 != 0,
                                            rows - r.randint(6));
}
TEST_CASE("multiply: tiles ask for each line of C once, a group of tiles before it is written") {
  constexpr auto group = 4 * tiles::rows;
  constexpr auto rows = 3 * group - 1;
  constexpr auto row = std::size_t{1024};
  auto const c = std::vector<std::byte>(rows * row);
  auto asked = std::vector<int>(rows * row / 64);
  for (auto tile = std::size_t{0}; tile * tiles::rows < rows; ++tile) {
    auto const lines = tiles::lines_of_c(c.data(), row, tile, rows);
    for (auto i = std::size_t{0}; i < lines.count; ++i) {
      auto const at = lines.first + i * lines.step - c.data();
      REQUIRE(at >= 0);
      auto const line = static_cast<std::size_t>(at) / 64;
      REQUIRE(line < asked.size());
      CHECK(line / (row / 64) / tiles::rows > tile);  // of a tile that follows
      ++asked[line];
    }
  }
  for (auto line = std::size_t{0}; line < asked.size(); ++line) {
    auto const of_panel = line % (row / 64) < 4;
    CHECK(asked[line] == (of_panel && line / (row / 64) >= group ? 1 : 0));
  }
  CHECK(tiles::lines_of_c(c.data(), row, 0, group).count == 0);
}
TEST_CASE("multiply: how many rows at once") {
  constexpr auto wide = tiles::vectors == 4;
  CHECK(tiles::rows_at_once(512, 1024) == 512);  // 512 KiB
  CHECK(tiles::rows_at_once(512, 2048) == (wide ? 258U : 512U));
  CHECK(tiles::rows_at_once(768, 3072) == (wide ? 156U : 768U));
  CHECK(tiles::rows_at_once(300, 6144) == (wide ? 102U : 300U));  // 128 at most, in equal parts
  CHECK(tiles::rows_at_once(300, 6148) == 300);  // so few would stay that B is read too often
  CHECK(tiles::rows_at_once(128, 6144) == 128);
  CHECK(tiles::rows_at_once(0, 0) == 0);
}
