// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/core/config.hpp>

#if TESSERA_SIMD
#include <tessera/backend/simd/word_rows.hpp>

using namespace tessera;

// -- laws -----------------------------------------------------------------------------------------
TEST_CASE("word_rows: rows are turned by words") {
  constexpr auto lanes = lane::word_lanes;
  std::uint32_t rows[lanes][7];
  for (auto r = std::size_t{0}; r < lanes; ++r)
    for (auto k = std::size_t{0}; k < 7; ++k) rows[r][k] = static_cast<std::uint32_t>(100 * r + k);
  auto const* const first = reinterpret_cast<std::byte const*>(rows[0] + 1);
  auto four = lane::four_words_of_rows();
  auto scale = lane::first_word_of_rows();
  for (auto k = std::size_t{0}; k < 4; ++k) {
    four.read(first, sizeof rows[0], k);
    scale.read(first, sizeof rows[0], k);
  }
  for (auto k = std::size_t{0}; k < 3; ++k) four.turn(k);
  auto const one = lane::words_in_memory(scale.turned());
  for (auto r = std::size_t{0}; r < lanes; ++r) {
    CHECK(one.lane[r] == rows[r][1]);
    for (auto k = std::size_t{0}; k < 4; ++k)
      CHECK(lane::words_in_memory(four.part[k]).lane[r] == rows[r][1 + k]);
  }
}

#endif
