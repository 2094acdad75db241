// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/config.hpp>

/// How far away the third level of a processor's caches is.
namespace tessera::lane::inline TESSERA_TARGET {

/// Whether a core reads its third level about as fast as its second one: products may then read
/// there, again and again, what others copy into the second level.
///
/// Source  an AMD's cores share it by eights; on an Intel (family 6, model 85) it gives a core 21
///         GB/s, the second level 85: there a product of 512 has 63 GFLOP/s in place and 129 by
///         copies, on a Zen 4 2 to 4 % more in place
[[nodiscard]] inline auto third_level_is_near() -> bool {
#if TESSERA_MATRIX_UNIT
  return static_cast<bool>(__builtin_cpu_is("amd"));
#else
  return false;
#endif
}

}  // namespace tessera::lane::inline TESSERA_TARGET
