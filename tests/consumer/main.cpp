// SPDX-License-Identifier: MIT
#include <tessera/tessera.hpp>

#include <cstdio>

using model = tessera::sequential<tessera::lstm<5, 64>, tessera::linear<64, 1>>;
static_assert(tessera::parameter_count<model> == 18241);

auto main() -> int { std::printf("%zu parameters\n", tessera::parameter_count<model>); }
