// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/ops/operations.hpp>
#include <tessera/ops/reference/group_norm.hpp>

#if TESSERA_SIMD
#include <tessera/ops/simd/group_norm.hpp>
#endif
