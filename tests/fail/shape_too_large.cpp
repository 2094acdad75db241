// SPDX-License-Identifier: MIT
// EXPECT: shape: more elements than can be counted
// LINES: 8
#include <tessera/tensor/tensor.hpp>

using namespace tessera;

#ifdef TESSERA_MUST_FAIL
using large = shape<(1L << 33), (1L << 33)>;
#else
using large = shape<(1L << 33), (1L << 29)>;
#endif

auto main() -> int { return large::capacity > 0 ? 0 : 1; }
