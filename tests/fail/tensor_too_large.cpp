// SPDX-License-Identifier: MIT
// EXPECT: tensor: more bytes than can be counted
// LINES: 12
#include <tessera/tensor/tensor.hpp>

using namespace tessera;

#ifdef TESSERA_MUST_FAIL
using large = tensor<float, shape<(1L << 30), (1L << 32)>>;
#else
using large = tensor<float, shape<(1L << 30), 8>>;
#endif

auto main() -> int { return sizeof(large) > 0 ? 0 : 1; }
