// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/rotary.hpp>

#if TESSERA_SIMD
#include <tessera/ops/simd/rotary.hpp>
#endif
