// SPDX-License-Identifier: MIT
#pragma once

/// What a file that the host compiler compiles computes on the fake device, in a program whose
/// other file has the GPU.
namespace beside {

[[nodiscard]] auto sum_of_first(int n) -> int;

}  // namespace beside
