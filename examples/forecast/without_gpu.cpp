// SPDX-License-Identifier: MIT
// In the place of on_gpu.cu, where a program is built without CUDA.
#include "forecaster.hpp"

namespace forecast {

auto on_gpu(model_choice const&) -> gpu_training { return {}; }

}  // namespace forecast
