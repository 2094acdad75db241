// SPDX-License-Identifier: MIT
#pragma once

/// The library without a heap, exceptions, RTTI and files: floors core to optim.
#include <tessera/compose/by_value.hpp>
#include <tessera/compose/objects.hpp>
#include <tessera/grad/reduction.hpp>
#include <tessera/layers/linear.hpp>
#include <tessera/layers/loss.hpp>
#include <tessera/layers/lstm.hpp>
#include <tessera/optim/training.hpp>
#include <tessera/random/numpy.hpp>
#include <tessera/random/philox.hpp>
#include <tessera/random/torch.hpp>
