// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/backend/policy.hpp>
#include <tessera/core/elementary.hpp>
#include <tessera/tensor/tensor.hpp>

#include <cstddef>

namespace tessera::detail {

/// kernel<sinusoidal_fn, Backend> has forward(count, x, half, frequency, y) and backward(count, x,
/// half, frequency, dy, dx), by pointers: y has cosines of x·frequency and then sines, half of
/// each.
struct sinusoidal_fn {};

}  // namespace tessera::detail

#include <tessera/ops/reference/sinusoidal.hpp>  // IWYU pragma: keep
