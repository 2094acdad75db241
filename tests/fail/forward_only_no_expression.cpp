// SPDX-License-Identifier: MIT
// EXPECT: forward-only: `forward\(p, x\)` must be one expression of p and x
// EXPECT: at_position<>, tessera::complaint::in<own>
// EXPECT: forward_only<tessera::complaint::returns_an_expression>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
/// A layer of a user's, forward only.
struct own {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<4>> weight;
    TESSERA_PARAMETERS(weight)
  };
  static constexpr auto forward(auto const& p, auto x) {
#ifdef TESSERA_MUST_FAIL
    return (void)p, (void)x;
#else
    return x * p.weight;
#endif
  }
};

auto main() -> int {
  static differentiation<own, tensor<float, shape<2, 4>>> pass;
  (void)pass;
}
