// SPDX-License-Identifier: MIT
// The training that a GPU does, compiled by nvcc.
#include <tessera/cuda.hpp>

#include "training.hpp"

namespace characters {

namespace {

struct network : model {};  // a name that is short

}  // namespace

auto on_gpu() -> gpu_training {
  return {tessera::device::is_present, train_model<tessera::cuda, network>};
}

}  // namespace characters
