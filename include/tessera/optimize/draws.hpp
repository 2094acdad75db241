// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary.hpp>
#include <tessera/random/philox.hpp>

namespace tessera {

/// Random numbers of one trial: they depend on the seed and its number alone.
///
/// Source  Philox's stream `number` of the seed, from its beginning
class draws {
 public:
  draws(std::uint64_t seed, std::uint64_t number) : stream_{seed, number} {}

  /// A number of [0, 1), of 53 bits.
  [[nodiscard]] auto uniform() -> double {
    auto const words = stream_.block(next_++);
    auto const bits = std::uint64_t{words[0]} << 32 | words[1];
    return static_cast<double>(bits >> 11) * 0x1p-53;
  }
  [[nodiscard]] auto uniform(double low, double high) -> double {
    return low + (high - low) * uniform();
  }
  /// A number of 0 .. n - 1.
  [[nodiscard]] auto below(std::size_t n) -> std::size_t {
    auto const drawn = static_cast<std::size_t>(uniform() * static_cast<double>(n));
    return drawn < n ? drawn : n - 1;
  }
  /// A standard normal number, by the polar method of Marsaglia.
  [[nodiscard]] auto normal() -> double {
    for (;;) {
      auto const x = uniform(-1, 1);
      auto const y = uniform(-1, 1);
      auto const square = x * x + y * y;
      if (square < 1 && square > 0) return x * lane::sqrt(-2 * lane::log(square) / square);
    }
  }

 private:
  philox_stream stream_;
  std::uint64_t next_ = 0;
};

}  // namespace tessera
