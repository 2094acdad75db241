// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/ops/simd/staggered_rows.hpp>

#include <numeric>
#include <vector>

using namespace tessera;

TEMPLATE_TEST_CASE(
    "staggered_rows: takes rows of whole lines, two for each pair of a group or more", "", float,
    double) {
  using staggered = detail::staggered_rows<TestType>;
  constexpr auto shortest = staggered::rows * staggered::line;
  for (auto length = std::size_t{0}; length < 3 * shortest; ++length)
    CHECK(staggered::takes(length) == (length >= shortest));
}

/// Nothing is read behind the last row: the numbers end there.
TEMPLATE_TEST_CASE("staggered_rows: every whole line of every row of one group after another", "",
                   float, double) {
  using staggered = detail::staggered_rows<TestType>;
  constexpr auto rows = staggered::rows;
  constexpr auto line = staggered::line;
  for (auto const length : {rows * line, (rows + 1) * line, (2 * rows + 3) * line + 5})
    for (auto groups = std::size_t{1}; groups < 4; ++groups) {
      INFO(groups << " groups of rows of " << length);
      auto numbers = std::vector<TestType>(groups * rows * length);
      std::iota(numbers.begin(), numbers.end(), TestType{0});
      auto reader = staggered(numbers.data(), length, groups);
      auto wrong = std::size_t{0};
      for (auto g = std::size_t{0}; g < groups; ++g) {
        auto expected = std::size_t{0};
        reader.read_group([&](std::size_t k, TestType const* lines) {
          wrong += k != expected;
          expected += line;
          for (auto r = std::size_t{0}; r < rows; ++r)
            for (auto i = std::size_t{0}; i < line; ++i)
              wrong += lines[r * line + i] != numbers[(g * rows + r) * length + k + i];
        });
        CHECK(expected == length / line * line);
      }
      CHECK(wrong == 0);
    }
}
