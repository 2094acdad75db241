// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/layer_norm.hpp>

#if TESSERA_SIMD
#include <tessera/ops/simd/layer_norm.hpp>
#endif
