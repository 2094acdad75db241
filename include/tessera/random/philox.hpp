// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/config.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace tessera::inline TESSERA_TARGET {

/// Random numbers by counting: Philox4x32-10, a function from (key, counter) to four words.
///
/// What a place in a sequence gets does not depend on how the sequence is cut, on threads, or on
/// what was drawn before.
/// Cost    20 multiplications of 32 bits for four words
/// Source  Salmon and others 2011, "Parallel random numbers: as easy as 1, 2, 3"; the known answers
///         of their test suite
struct philox {
  using key_type = std::array<std::uint32_t, 2>;
  using counter_type = std::array<std::uint32_t, 4>;

  [[nodiscard]] static constexpr auto words(key_type key, counter_type c) -> counter_type {
    for (auto round = 0; round < 10; ++round) {
      auto const p0 = std::uint64_t{0xD2511F53U} * c[0];
      auto const p1 = std::uint64_t{0xCD9E8D57U} * c[2];
      c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(p1),
           static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(p0)};
      key = {key[0] + 0x9E3779B9U, key[1] + 0xBB67AE85U};
    }
    return c;
  }
};

/// A stream of a seed: element i is word i mod 4 of block i / 4.
struct philox_stream {
  std::uint64_t seed = 0;
  std::uint64_t stream = 0;

  /// The four words of one block.
  [[nodiscard]] constexpr auto block(std::uint64_t index) const -> philox::counter_type {
    return philox::words(
        {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)},
        {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32),
         static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)});
  }
  [[nodiscard]] constexpr auto word(std::uint64_t i) const -> std::uint32_t {
    return block(i / 4)[static_cast<std::size_t>(i % 4)];
  }
  /// A number of [0, 1), of 24 bits.
  [[nodiscard]] constexpr auto uniform(std::uint64_t i) const -> float {
    return static_cast<float>(word(i) >> 8) * 0x1p-24F;
  }
};

/// The engine of torch on CUDA: key = seed, subsequence in the high words of the counter, offset
/// (in blocks of four) in the low ones.
struct torch_philox {
  std::uint64_t seed = 0;
  std::uint64_t subsequence = 0;

  [[nodiscard]] constexpr auto block(std::uint64_t offset) const -> philox::counter_type {
    return philox_stream{seed, subsequence}.block(offset);
  }
};

}  // namespace tessera::inline TESSERA_TARGET
