// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/ops/reference/in_numbers.hpp>

using namespace tessera;

TEST_CASE("in_numbers: each place once, in order") {
  float const x[] = {1, 2, 3};
  float y[3] = {};
  auto places = std::vector<std::size_t>{};
  detail::in_numbers::each<float>(3, [&](auto lanes, std::size_t i) {
    places.push_back(i);
    lanes.store(y + i, lanes.load(x + i) * 2.0F);
  });
  CHECK(places == std::vector<std::size_t>{0, 1, 2});
  CHECK(y[2] == 6);
}

TEMPLATE_TEST_CASE("in_numbers: columns from a row on, each from above", "", float, double) {
  using T = TestType;
  auto const columns = GENERATE(std::size_t{1}, 7, 16, 33, 70, 130);
  constexpr auto rows = std::size_t{5};
  auto x = std::vector<T>(rows * columns);
  for (auto i = std::size_t{0}; i < x.size(); ++i) x[i] = static_cast<T>(i % 11);
  for (auto first = std::size_t{0}; first <= rows; ++first) {
    auto sums = std::vector<T>(columns + 1, T{-1});
    detail::in_numbers::down<T, 4>(
        columns, first, rows, [](auto lanes, std::size_t) { return lanes.splat(T{0}); },
        [&](auto lanes, auto& kept, std::size_t at, std::size_t c) {
          CHECK(at % columns == c);
          kept = kept * lanes.splat(T{2}) + lanes.load(x.data() + at);
        },
        [&](auto lanes, std::size_t c, auto const& kept) { lanes.store(sums.data() + c, kept); });
    for (auto c = std::size_t{0}; c < columns; ++c) {
      auto expected = T{0};
      for (auto r = first; r < rows; ++r) expected = expected * T{2} + x[r * columns + c];
      CHECK(sums[c] == expected);
    }
    CHECK(sums[columns] == T{-1});
  }
}
