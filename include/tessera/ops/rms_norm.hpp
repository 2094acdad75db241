// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/rms_norm.hpp>

#if TESSERA_SIMD
#include <tessera/ops/simd/rms_norm.hpp>
#endif
