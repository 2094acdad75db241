// SPDX-License-Identifier: MIT
#pragma once

#include <tessera/core/elementary/activation.hpp>
#include <tessera/core/elementary/error_function.hpp>
#include <tessera/core/elementary/exponential.hpp>
#include <tessera/core/elementary/power.hpp>
#include <tessera/core/elementary/trigonometric.hpp>

/// Elementary functions of a lane: written once for numbers and vectors, with the same bits.
