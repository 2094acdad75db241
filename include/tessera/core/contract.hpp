// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/config.hpp>

#if TESSERA_HOSTED && defined(__cpp_exceptions)
#include <stdexcept>
#endif

namespace tessera {

/// What happens when a run-time extent breaks a rule that no type can know: std::invalid_argument
/// where there are exceptions, a trap where there are none. In a constant expression it does not
/// compile.
[[noreturn]] TESSERA_DEVICE inline void broken_contract([[maybe_unused]] char const* rule) {
#if defined(__CUDA_ARCH__)
  __trap();
#elif TESSERA_HOSTED && defined(__cpp_exceptions)
  throw std::invalid_argument(rule);
#else
  __builtin_trap();
#endif
}

constexpr void require(bool holds, char const* rule) {
  if (not holds) broken_contract(rule);
}

}  // namespace tessera
