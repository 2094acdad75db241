// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/config.hpp>

#include <cstddef>
#include <cstdint>

namespace tessera::inline TESSERA_TARGET {

/// The Mersenne twister of 32 bits, seeded by `init_genrand`: the engine behind torch's CPU
/// generator and NumPy's RandomState.
///
/// State   624 words and an index: a plain struct that can be copied, compared and saved
/// Source  Matsumoto and Nishimura 1998; reference values: tests/reference/random_streams.py
struct mt19937 {
  static constexpr std::size_t size = 624;

  std::uint32_t words[size] = {};
  std::uint32_t index = size;

  constexpr mt19937() : mt19937(5489) {}
  constexpr explicit mt19937(std::uint32_t seed) {
    words[0] = seed;
    for (auto i = std::uint32_t{1}; i < size; ++i)
      words[i] = 1812433253U * (words[i - 1] ^ words[i - 1] >> 30) + i;
  }
  constexpr auto operator()() -> std::uint32_t {
    if (index == size) refill();
    auto y = words[index++];
    y ^= y >> 11;
    y ^= y << 7 & 0x9D2C5680U;
    y ^= y << 15 & 0xEFC60000U;
    return y ^ y >> 18;
  }
  friend constexpr auto operator==(mt19937 const& a, mt19937 const& b) -> bool {
    for (auto i = std::size_t{0}; i < size; ++i)
      if (a.words[i] != b.words[i]) return false;
    return a.index == b.index;
  }

 private:
  constexpr void refill() {
    for (auto k = std::size_t{0}; k < size; ++k) {
      auto const y = (words[k] & 0x80000000U) | (words[(k + 1) % size] & 0x7FFFFFFFU);
      words[k] = words[(k + 397) % size] ^ y >> 1 ^ ((y & 1U) != 0 ? 0x9908B0DFU : 0U);
    }
    index = 0;
  }
};

}  // namespace tessera::inline TESSERA_TARGET
