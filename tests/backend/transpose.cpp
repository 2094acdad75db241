// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/backend/simd/transpose.hpp>

#include <vector>

using namespace tessera;

TEMPLATE_TEST_CASE("load_columns: number c of every row", "", float, double) {
  using T = TestType;
  using V = lane::pack<T>;
  auto from = std::vector<T>(V::width * 19);
  for (auto i = std::size_t{0}; i < from.size(); ++i) from[i] = static_cast<T>(i);
  V columns[lane::columns_at_once<T>];
  lane::load_columns(from.data() + 3, 19, columns);
  for (auto c = std::size_t{0}; c < lane::columns_at_once<T>; ++c) {
    T got[V::width];
    lane::store(got, columns[c]);
    for (auto r = std::size_t{0}; r < V::width; ++r) CHECK(got[r] == from[r * 19 + c + 3]);
  }
}
TEMPLATE_TEST_CASE("copy_turned: rows become columns, and nothing else is touched", "", float,
                   double) {
  using T = TestType;
  for (auto rows = std::size_t{0}; rows < 40; ++rows)
    for (auto columns : {0, 1, 2, 3, 4, 7, 16, 21}) {
      auto const count = static_cast<std::size_t>(columns);
      auto from = std::vector<T>(rows * 23);
      for (auto i = std::size_t{0}; i < from.size(); ++i) from[i] = static_cast<T>(i + 1);
      auto got = std::vector<T>(22 * 41, T{-1});
      auto want = got;
      for (auto r = std::size_t{0}; r < rows; ++r)
        for (auto c = std::size_t{0}; c < count; ++c) want[c * 41 + r] = from[r * 23 + c];
      lane::copy_turned(rows, count, from.data(), 23, got.data(), 41);
      INFO(rows << " x " << columns);
      CHECK(got == want);
    }
}
