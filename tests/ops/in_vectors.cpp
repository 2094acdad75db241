// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/ops/simd/in_vectors.hpp>

using namespace tessera;

TEMPLATE_TEST_CASE("in_vectors: every place once, whatever is left behind whole vectors", "", float,
                   double) {
  using T = TestType;
  for (auto n = std::size_t{0}; n < 70; ++n) {
    auto x = std::vector<T>(n + 1);
    for (auto i = std::size_t{0}; i <= n; ++i) x[i] = static_cast<T>(i);
    detail::in_vectors::each<T>(n, [&](auto lanes, std::size_t i) {
      auto const value = lanes.load(x.data() + i);
      lanes.store(x.data() + i, value + value);
    });
    for (auto i = std::size_t{0}; i < n; ++i) CHECK(x[i] == static_cast<T>(2 * i));
    CHECK(x[n] == static_cast<T>(n));
  }
}

// -- as one number after the other ---------------------------------------------------------------
template <class T, class Passes> void goes_down_columns() {
  auto const columns = GENERATE(std::size_t{1}, 7, 16, 33, 70, 130);
  constexpr auto rows = std::size_t{5};
  auto x = std::vector<T>(rows * columns);
  for (auto i = std::size_t{0}; i < x.size(); ++i) x[i] = static_cast<T>(i % 11);
  for (auto first = std::size_t{0}; first <= rows; ++first) {
    auto sums = std::vector<T>(columns + 1, T{-1});
    Passes::template down<T, 4>(
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
TEMPLATE_TEST_CASE("in_vectors: columns from a row on, each from above", "", float, double) {
  goes_down_columns<TestType, detail::in_vectors>();
  goes_down_columns<TestType, detail::in_numbers>();
}
