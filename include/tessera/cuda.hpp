// SPDX-License-Identifier: MIT
#pragma once

/// Turns the backend `cuda` on: the only way device code reaches a program. In a .cu file the
/// device is a GPU; elsewhere a fake one runs the same kernels on the host, for tests. A program
/// may have files of both, each with its own: device::is_present() of a .cpp file is about the fake
/// one.
///
///   using X = tensor<float, shape<128, 16>, cuda>;
///   auto const learner = device::make<training<model, X, adamw>>();
///   auto step = device::graph([&] { learner->step(*x, *target, cross_entropy{}, adamw{}); });
///   auto const loss = step();
#include <tessera/backend/cuda/graph.hpp>
#include <tessera/grad/cuda/reduction.hpp>
#include <tessera/grad/cuda/trace.hpp>
#include <tessera/ops/cuda/affine_map.hpp>
#include <tessera/ops/cuda/attention.hpp>
#include <tessera/ops/cuda/avg_pool2d.hpp>
#include <tessera/ops/cuda/batch_norm.hpp>
#include <tessera/ops/cuda/conv1d.hpp>
#include <tessera/ops/cuda/conv2d.hpp>
#include <tessera/ops/cuda/cross_entropy.hpp>
#include <tessera/ops/cuda/dropout.hpp>
#include <tessera/ops/cuda/embedding.hpp>
#include <tessera/ops/cuda/group_norm.hpp>
#include <tessera/ops/cuda/max_pool2d.hpp>
#include <tessera/ops/cuda/recurrent_sequence.hpp>
#include <tessera/ops/cuda/rms_norm.hpp>
#include <tessera/ops/cuda/rotary.hpp>
#include <tessera/ops/cuda/sinusoidal.hpp>
#include <tessera/ops/cuda/upsample.hpp>
#include <tessera/optim/cuda/optimizer.hpp>
#include <tessera/tensor/cuda/assign.hpp>
#include <tessera/tensor/cuda/reduction.hpp>
#include <tessera/tensor/cuda/whole.hpp>
