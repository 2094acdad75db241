// SPDX-License-Identifier: MIT
// EXPECT: type/value mismatch|must be a type
// EXPECT: relu
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
using good = sequential<linear<4, 8>, relu_layer, linear<8, 1>>;
#ifdef TESSERA_MUST_FAIL
using bad = sequential<linear<4, 8>, relu, linear<8, 1>>;
#endif

auto main() -> int { static_assert(parameter_count<good> == 49); }
