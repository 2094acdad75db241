// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary.hpp>
#include <tessera/random/mt19937.hpp>

namespace tessera::inline TESSERA_TARGET {

/// The stream of numpy.random.RandomState(seed).
///
/// Accuracy  random_sample and uniform: the bits of NumPy; normal within 4e-16 relative of it
/// Source    NumPy's legacy generator; reference values: tests/reference/random_streams.py
class numpy_random_state {
 public:
  constexpr explicit numpy_random_state(std::uint32_t seed) : engine_{seed} {}

  friend constexpr auto operator==(numpy_random_state const&, numpy_random_state const&)
      -> bool = default;

  /// A number of [0, 1), of 53 bits.
  [[nodiscard]] constexpr auto random_sample() -> double {
    auto const a = engine_() >> 5;
    auto const b = engine_() >> 6;
    return (static_cast<double>(a) * 67108864.0 + static_cast<double>(b)) / 9007199254740992.0;
  }
  [[nodiscard]] constexpr auto uniform(double low, double high) -> double {
    return low + (high - low) * random_sample();
  }
  /// A standard normal number, by the polar method of Marsaglia, which gives two at a time.
  [[nodiscard]] constexpr auto standard_normal() -> double {
    if (has_normal_) {
      has_normal_ = false;
      return normal_;
    }
    for (;;) {
      auto const x = 2.0 * random_sample() - 1.0;
      auto const y = 2.0 * random_sample() - 1.0;
      auto const square = x * x + y * y;
      if (square >= 1.0 || square == 0.0) continue;
      auto const factor = lane::sqrt(-2.0 * lane::log(square) / square);
      has_normal_ = true;
      normal_ = factor * x;
      return factor * y;
    }
  }

 private:
  mt19937 engine_;
  bool has_normal_ = false;
  double normal_ = 0;
};

}  // namespace tessera::inline TESSERA_TARGET
