// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/policy.hpp>

namespace tessera::inline TESSERA_DEVICE_TARGET {

/// Kernels of a CUDA device. There is no fallback: an operation without a kernel does not compile.
///
/// Objects of this backend (training, inference, parameters) live in memory that host and device
/// see, made by device::make; the host computes addresses and launches, and reads numbers after
/// device::synchronize(). Where the compiler is not nvcc a fake device runs the same bodies on the
/// host, block by block.
struct cuda {
  static constexpr bool on_device = true;
};

}  // namespace tessera::inline TESSERA_DEVICE_TARGET
