// SPDX-License-Identifier: MIT
// EXPECT: (could not convert '2'|no viable conversion) from 'int' to '.*lstm_options'
// LINES: 8 13
#include <tessera/tessera.hpp>

using namespace tessera;
using good = lstm<4, 8, lstm_options{.layers = 2}>;
#ifdef TESSERA_MUST_FAIL
using bad = lstm<4, 8, 2>;
#endif

auto main() -> int { static_assert(parameter_count<good> > parameter_count<lstm<4, 8>>); }
