// SPDX-License-Identifier: MIT
#pragma once

/// All of the library for a hosted program, but device code and optional dependencies.
#include <tessera/embedded.hpp>

#if TESSERA_SIMD && !defined(__CUDACC__)
#include <tessera/ops/simd/affine_map.hpp>
#include <tessera/ops/simd/attention.hpp>
#include <tessera/ops/simd/batch_norm.hpp>
#include <tessera/ops/simd/conv1d.hpp>
#include <tessera/ops/simd/conv2d.hpp>
#include <tessera/ops/simd/group_norm.hpp>
#include <tessera/ops/simd/lstm_cell.hpp>
#include <tessera/ops/simd/matmul.hpp>
#include <tessera/ops/simd/rotary.hpp>
#include <tessera/optim/simd/optimizer.hpp>
#include <tessera/tensor/simd/assign.hpp>
#endif

#include <tessera/compose/gradient_check.hpp>
