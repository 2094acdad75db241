// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/backend/simd/matrix_unit.hpp>

#include <fstream>
#include <iterator>
#include <string>
#include <thread>

using namespace tessera;

TEST_CASE("matrix_unit: none that the system does not list") {
  if (not lane::has_matrix_unit()) return;
  auto file = std::ifstream("/proc/cpuinfo");
  auto const text = std::string(std::istreambuf_iterator<char>(file), {});
  CHECK(text.find(" amx_bf16 ") != std::string::npos);
  CHECK(text.find(" amx_tile ") != std::string::npos);
  CHECK(text.find(" amx_int8 ") != std::string::npos);
}

#if TESSERA_MATRIX_UNIT
namespace {

struct tile_memory {
  alignas(64) std::uint16_t pairs[16][32] = {};
  alignas(64) float sums[16][16] = {};
};

/// A tile of weights with one number in each row, times pairs that have their place, plus 1.
void multiply_once(tile_memory& w, tile_memory& x) {
  for (auto r = std::size_t{0}; r < 16; ++r)
    for (auto c = std::size_t{0}; c < 32; ++c) {
      w.pairs[r][c] = c == r ? bf16(2.0F).bits : std::uint16_t{0};
      x.pairs[r][c] = bf16(static_cast<float>(r * 2 + c % 2 + c / 2)).bits;
    }
  for (auto& row : w.sums)
    for (auto& sum : row) sum = 1;
  auto const in_use = lane::tiles_in_use<>();
  lane::load_tile<0>(w.sums, 64);
  lane::load_tile<4>(w.pairs, 64);
  lane::load_tile<6>(x.pairs, 64);
  lane::add_tile_of_pairs<0, 4, 6>();
  lane::store_tile<0>(w.sums, 64);
  lane::zero_tile<0>();
  lane::store_tile<0>(x.sums, 64);
}
void multiplies() {
  auto w = tile_memory{};
  auto x = tile_memory{};
  x.sums[3][5] = 7;
  multiply_once(w, x);
  auto wrong = 0;
  for (auto r = std::size_t{0}; r < 16; ++r)
    for (auto c = std::size_t{0}; c < 16; ++c) {
      // Number r is that of pair r / 2, even or odd; column c of it is r / 2 * 2 + r % 2 + c.
      if (w.sums[r][c] != 1 + 2 * static_cast<float>(r + c)) ++wrong;
      if (x.sums[r][c] != 0) ++wrong;
    }
  CHECK(wrong == 0);
}

/// Bytes with a sign by bytes without one, of which 32 are in a row.
void multiplies_bytes() {
  alignas(64) std::int8_t left[16][32];
  alignas(64) std::uint8_t right[8][64];
  alignas(64) std::int32_t sums[16][16] = {};
  for (auto r = std::size_t{0}; r < 16; ++r)
    for (auto k = std::size_t{0}; k < 32; ++k)
      left[r][k] = static_cast<std::int8_t>(k == 31 ? -127 : static_cast<int>(r * k) % 255 - 127);
  for (auto k = std::size_t{0}; k < 8; ++k)
    for (auto c = std::size_t{0}; c < 64; ++c)
      right[k][c] = static_cast<std::uint8_t>(255 - (k * 7 + c * 3) % 256);
  {
    auto const in_use = lane::tiles_in_use<32>();
    lane::zero_tile<1>();
    lane::load_tile<5>(left, 32);
    lane::load_tile<7>(right, 64);
    lane::add_tile_of_bytes<1, 5, 7>();
    lane::add_tile_of_bytes<1, 5, 7>();
    lane::store_tile<1>(sums, 64);
  }
  auto wrong = 0;
  for (auto r = std::size_t{0}; r < 16; ++r)
    for (auto c = std::size_t{0}; c < 16; ++c) {
      auto want = 0;  // twice
      for (auto k = std::size_t{0}; k < 32; ++k)
        want += 2 * left[r][k] * right[k / 4][4 * c + k % 4];
      if (sums[r][c] != want) ++wrong;
    }
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("matrix_unit: tiles are loaded, multiplied and stored, by any thread") {
  if (not lane::has_matrix_unit()) {
    WARN("skipped: this processor has no matrix unit, or the system keeps it");
    return;
  }
  multiplies();
  multiplies_bytes();
  std::thread([] {
    multiplies_bytes();
    multiplies();
  }).join();
  multiplies();
}
#endif
