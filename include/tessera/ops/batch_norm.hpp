// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/batch_norm.hpp>

#if TESSERA_SIMD
#include <tessera/ops/simd/batch_norm.hpp>
#endif
