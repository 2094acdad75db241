// SPDX-License-Identifier: MIT
// In the place of on_gpu.cu, where a program is built without CUDA.
#include "filter.hpp"

namespace frequency {

auto on_gpu(settings const&) -> gpu_training { return {}; }

}  // namespace frequency
