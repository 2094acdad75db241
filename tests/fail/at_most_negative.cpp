// SPDX-License-Identifier: MIT
// EXPECT: at_most_takes_a_bound_of_at_least_1
// LINES: 16
#include <tessera/shape/shape.hpp>

using namespace tessera;

#ifdef TESSERA_MUST_FAIL
using bounded = shape<at_most(-5), 2>;
#else
using bounded = shape<at_most(5), 2>;
#endif

auto main() -> int { return bounded::bounded == 1 ? 0 : 1; }
