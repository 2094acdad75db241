// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/contract.hpp>

#include <cstdint>

namespace tessera {

/// A probability as part of a type, in millionths: dropout<0.2>. `at_run_time` is decided by the
/// context of each call, so that one compiled model serves every value of an option.
///
/// Errors  outside [0, 1), and what rounds to none or all of the millionths but is not 0: as part
///         of a type it does not compile, tests/fail/probability_rounds_to_zero.cpp,
///         tests/fail/probability_rounds_to_one.cpp
struct probability {
  std::uint32_t millionths = 0;

  constexpr probability() = default;
  constexpr probability(double p) : millionths{from_number(p)} {}
  [[nodiscard]] static constexpr auto run_time() -> probability {
    auto p = probability{};
    p.millionths = static_cast<std::uint32_t>(-1);
    return p;
  }
  [[nodiscard]] constexpr auto is_run_time() const -> bool {
    return millionths == static_cast<std::uint32_t>(-1);
  }
  [[nodiscard]] constexpr auto value() const -> double { return millionths / 1e6; }
  friend constexpr auto operator==(probability, probability) -> bool = default;

  [[nodiscard]] static constexpr auto from_number(double p) -> std::uint32_t {
#if defined(__CUDACC__)
    // nvcc writes the member of a template argument as the argument of a constructor.
    if (p >= 1) return static_cast<std::uint32_t>(p);
#endif
    require(p >= 0 && p < 1, "probability: from 0, and below 1");
    auto const rounded = static_cast<std::uint32_t>(p * 1e6 + 0.5);
    require((p == 0 || rounded > 0) && rounded < 1'000'000,
            "probability: expected 0, or what rounds to 1 to 999999 millionths");
    return rounded;
  }
};

inline constexpr auto at_run_time = probability::run_time();

}  // namespace tessera
