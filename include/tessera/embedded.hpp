// SPDX-License-Identifier: MIT
#pragma once

/// The library without a heap, exceptions, RTTI and files: floors core to optim.
#include <tessera/compose/by_value.hpp>
#include <tessera/compose/objects.hpp>
#include <tessera/compose/parallel.hpp>
#include <tessera/compose/repeat.hpp>
#include <tessera/compose/residual.hpp>
#include <tessera/grad/reduction.hpp>
#include <tessera/layers/activation.hpp>
#include <tessera/layers/attention.hpp>
#include <tessera/layers/conv1d.hpp>
#include <tessera/layers/dropout.hpp>
#include <tessera/layers/layer_norm.hpp>
#include <tessera/layers/linear.hpp>
#include <tessera/layers/loss.hpp>
#include <tessera/layers/lstm.hpp>
#include <tessera/ops/matmul.hpp>
#include <tessera/optim/training.hpp>
#include <tessera/random/numpy.hpp>
#include <tessera/random/philox.hpp>
#include <tessera/random/torch.hpp>
#include <tessera/tensor/join.hpp>
#include <tessera/tensor/packed.hpp>
#include <tessera/tensor/search.hpp>
