// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/ops/embedding.hpp>

using namespace tessera;

TEST_CASE("embedding: the nearest whole number names the row") {
  static_assert(detail::row_of_table(3.0F, 4) == 3);
  static_assert(detail::row_of_table(2.6, 4) == 3);
  static_assert(detail::row_of_table(-0.2F, 4) == 0);
  CHECK(detail::row_of_table(16777214.0F, 16777215) == 16777214);
}
