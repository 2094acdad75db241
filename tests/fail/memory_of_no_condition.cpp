// SPDX-License-Identifier: MIT
// EXPECT: a layer needs an input that the call is not given
// LINES: 9 12
#include <tessera/tessera.hpp>

using namespace tessera;
using model = condition_bias<3, 4>;
using X = tensor<float, shape<2, 5, 4>>;
using C = tensor<float, shape<2, 3>>;

#ifdef TESSERA_MUST_FAIL
static_assert(memory_of<model, X, call_mode::inference>.object > 0);
#else
static_assert(
    memory_of<model, X, call_mode::inference, detail::no_optimizer, given_as<tag::condition, C>>.parameters >
    0);
#endif

auto main() -> int {}
