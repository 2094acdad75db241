// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/ops/simd/rows_ahead.hpp>

#include <array>

using namespace tessera;

TEMPLATE_TEST_CASE("rows_ahead: rows fit a first level where four lines at most share a set", "",
                   float, double) {
  using ahead = detail::rows_ahead<TestType>;
  for (auto lines = std::size_t{1}; lines < 200; ++lines) {
    auto sharing = std::array<std::size_t, 64>{};
    for (auto r = std::size_t{0}; r < ahead::rows; ++r) ++sharing[r * lines % 64];
    INFO(lines << " lines");
    CHECK(ahead(lines * 64).fits_first_level() ==
          (*std::max_element(sharing.begin(), sharing.end()) <= 4));
  }
}
