// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/config.hpp>

#if TESSERA_MATRIX_UNIT
#include <cpuid.h>
#endif

/// What kernels ask a processor's first level of caches for.
namespace tessera::lane::inline TESSERA_TARGET {

/// Asks for a line that is read soon, into the first level, where it waits for many.
TESSERA_INLINE inline void fetch_near(void const* place) { __builtin_prefetch(place, 0, 3); }

#if TESSERA_MATRIX_UNIT
/// Whether the first level waits for enough lines at a time that memory gives to it what it can
/// give. Others ask by `fetch`, into the second level.
///
/// Source  rows of weights from memory on a Zen 5 (family 26), which stands for what follows it:
///         40 GB/s of 41, 37 by way of the second level; on a Zen 4 16 of 28
[[nodiscard]] inline auto first_level_waits_for_many() -> bool {
  static bool const many = [] {
    constexpr auto zen_5 = 26U;
    unsigned a{};
    unsigned b{};
    unsigned c{};
    unsigned d{};
    return __builtin_cpu_is("amd") != 0 && __get_cpuid(1, &a, &b, &c, &d) != 0 &&
           (a >> 8U & 0xFU) + (a >> 20U & 0xFFU) >= zen_5;
  }();
  return many;
}
#else
[[nodiscard]] constexpr auto first_level_waits_for_many() -> bool { return false; }
#endif

}  // namespace tessera::lane::inline TESSERA_TARGET
