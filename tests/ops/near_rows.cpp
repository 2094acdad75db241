// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/ops/simd/affine_map_row.hpp>
#include <tessera/ops/simd/near_rows.hpp>

#include <numeric>
#include <vector>

using namespace tessera;

/// Nothing is read behind the last row: the numbers end there.
TEMPLATE_TEST_CASE("near_rows: every whole line of every row, by columns", "", float, double) {
  using near = detail::near_rows<TestType>;
  using V = lane::pack<TestType>;
  constexpr auto rows = near::rows;
  constexpr auto line = near::line;
  for (auto const length : {line, 4 * line + 3, rows * line, (3 * rows + 1) * line + 5}) {
    INFO("rows of " << length);
    auto numbers = std::vector<TestType>(rows * length);
    std::iota(numbers.begin(), numbers.end(), TestType{0});
    auto seen = std::vector<int>(rows / V::width * length);
    auto wrong = std::size_t{0};
    near{numbers.data(), length}.read([&](std::size_t k, TestType const* lines) {
      for (auto r = std::size_t{0}; r < rows; ++r)
        for (auto i = std::size_t{0}; i < line; ++i) {
          wrong += lines[r * line + i] != numbers[r * length + k + i];
          if (r % V::width == 0) ++seen[r / V::width * length + k + i];
        }
    });
    CHECK(wrong == 0);
    for (auto v = std::size_t{0}; v < rows / V::width; ++v)
      for (auto k = std::size_t{0}; k < length; ++k)
        wrong += seen[v * length + k] != (k < length / line * line ? 1 : 0);
    CHECK(wrong == 0);
  }
}
TEMPLATE_TEST_CASE("near_rows: the bits of rows that are staggered", "", float, double) {
  using near = detail::near_rows<TestType>;
  using staggered = detail::staggered_rows<TestType>;
  using V = lane::pack<TestType>;
  constexpr auto rows = near::rows;
  auto const length = (rows + 3) * near::line;
  auto numbers = std::vector<TestType>(2 * rows * length);
  auto x = std::vector<TestType>(length);
  auto g = torch_generator(1);
  g.uniform(numbers.data(), numbers.size(), -1, 1);
  g.uniform(x.data(), x.size(), -1, 1);
  auto reader = staggered(numbers.data(), length, 2);
  for (auto group = std::size_t{0}; group < 2; ++group) {
    V a[rows / V::width];
    V b[rows / V::width];
    for (auto v = std::size_t{0}; v < rows / V::width; ++v) a[v] = b[v] = V(TestType{0});
    near{numbers.data() + group * rows * length, length}.read(
        [&](std::size_t k, TestType const* lines) {
          for (auto v = std::size_t{0}; v < rows / V::width; ++v)
            lane::for_columns_of_near_line(lines + v * V::width * rows, rows,
                                           [&](std::size_t c, auto const& columns) {
                                             detail::add_columns(x.data() + k + c, columns, a[v]);
                                           });
        });
    reader.read_group([&](std::size_t k, TestType const* lines) {
      for (auto v = std::size_t{0}; v < rows / V::width; ++v)
        lane::for_columns_of_near_line(lines + v * V::width * rows, rows,
                                       [&](std::size_t c, auto const& columns) {
                                         detail::add_columns(x.data() + k + c, columns, b[v]);
                                       });
    });
    for (auto v = std::size_t{0}; v < rows / V::width; ++v) {
      TestType of_near[V::width];
      TestType of_staggered[V::width];
      lane::store(of_near, a[v]);
      lane::store(of_staggered, b[v]);
      CHECK(std::memcmp(of_near, of_staggered, sizeof of_near) == 0);
    }
  }
}
