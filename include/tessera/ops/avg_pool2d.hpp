// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/avg_pool2d.hpp>

#if TESSERA_SIMD
#include <tessera/ops/simd/avg_pool2d.hpp>
#endif
