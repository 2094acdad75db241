// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/core/config.hpp>

#if TESSERA_SIMD
#include <tessera/backend/simd/bytes.hpp>

#include <cmath>
#include <random>
#include <vector>

using namespace tessera;

namespace {

constexpr auto lanes = lane::word_lanes;

auto lanes_of(lane::pack<float> v) -> std::vector<float> {
  auto result = std::vector<float>(lanes);
  lane::store(result.data(), v);
  return result;
}
/// The sums of eight words of each lane, by vectors and one after another.
template <class Sums> void adds(int least, int most) {
  auto r = std::mt19937{1};
  for (auto round = 0; round < 200; ++round) {
    std::uint8_t w[8][lanes][4];
    std::int8_t x[8][4];
    for (auto& word : w)
      for (auto& bytes : word)
        for (auto& b : bytes) {
          auto const extreme = round < 4 ? (round % 2 == 0 ? least : most) : 0;
          auto const any = least + static_cast<int>(r() % static_cast<unsigned>(most - least + 1));
          b = static_cast<std::uint8_t>(round < 4 ? extreme : any);
        }
    for (auto& word : x)
      for (auto& b : word)
        b = static_cast<std::int8_t>(round < 4 ? (round < 2 ? 127 : -127)
                                               : static_cast<int>(r() % 255) - 127);
    auto sums = Sums{lane::words(0U)};
    auto splat = sums;
    int want[lanes] = {};
    auto of_x = 0;
    for (auto k = 0; k < 8; ++k) {
      auto words = lane::words_in_memory{};
      for (auto l = std::size_t{0}; l < lanes; ++l) words.lane[l] = lane::word_at(w[k][l]);
      sums.add(Sums::prepared(words.load()), lane::splat_word(x[k]));
      splat.add_splat(Sums::prepared(words.load()), x[k]);
      for (auto i = 0; i < 4; ++i) {
        of_x += x[k][i];
        for (auto l = std::size_t{0}; l < lanes; ++l)
          want[l] += (least < 0 ? static_cast<std::int8_t>(w[k][l][i]) : int{w[k][l][i]}) * x[k][i];
      }
    }
    auto const total = lane::words_in_memory(sums.total());
    for (auto l = std::size_t{0}; l < lanes; ++l)
      CHECK(static_cast<std::int32_t>(total.lane[l]) - Sums::raised * of_x == want[l]);
    CHECK(std::ranges::equal(total.lane, lane::words_in_memory(splat.total()).lane));
  }
}

}  // namespace

TEST_CASE("bytes: every number of 16 bits is what it is alone") {
  for (auto bits = 0U; bits < 65536; bits += lanes) {
    auto words = lane::words_in_memory{};
    for (auto l = 0U; l < lanes; ++l) words.lane[l] = 0xABCD0000U | (bits + l);
    auto const found = lanes_of(lane::low_halves(words.load()));
    for (auto l = 0U; l < lanes; ++l) {
      auto const want = half_value(static_cast<std::uint16_t>(bits + l));
      if (found[l] != want && not(std::isnan(found[l]) && std::isnan(want)))
        FAIL(bits + l << " became " << found[l]);
    }
  }
}
TEST_CASE("bytes: both halves of words become numbers") {
  auto words = lane::words_in_memory{};
  for (auto l = 0U; l < lanes; ++l)
    words.lane[l] = f16(-1.5F - static_cast<float>(l)).bits * 0x10000U +
                    f16(0.25F * static_cast<float>(l)).bits;
  auto const [low, high] = lane::both_halves(words.load());
  for (auto l = 0U; l < lanes; ++l) {
    CHECK(lanes_of(low)[l] == 0.25F * static_cast<float>(l));
    CHECK(lanes_of(high)[l] == -1.5F - static_cast<float>(l));
  }
}
TEST_CASE("bytes: the low byte of each word is stored, and nothing else") {
  auto words = lane::words_in_memory{};
  for (auto l = 0U; l < lanes; ++l) words.lane[l] = 0xABCDEF00U | (l * 37U + 120U) % 256U;
  std::int8_t bytes[lanes + 2] = {};
  bytes[0] = bytes[lanes + 1] = 99;
  lane::store_low_bytes(bytes + 1, words.load());
  CHECK(bytes[0] == 99);
  CHECK(bytes[lanes + 1] == 99);
  for (auto l = 0U; l < lanes; ++l)
    CHECK(bytes[l + 1] == static_cast<std::int8_t>((l * 37U + 120U) % 256U));
}
TEST_CASE("bytes: whole numbers keep their sign") {
  auto words = lane::words_in_memory{};
  for (auto l = 0U; l < lanes; ++l) words.lane[l] = 7U - 3U * l;
  auto const found = lanes_of(lane::to_float(words.load()));
  for (auto l = 0U; l < lanes; ++l)
    CHECK(found[l] == static_cast<float>(7 - 3 * static_cast<int>(l)));
}
TEST_CASE("bytes: products of four bits and of bytes add exactly, the largest too") {
  adds<lane::sums_of_4_bits>(0, 15);
  adds<lane::sums_of_8_bits>(-128, 127);
}
#endif
