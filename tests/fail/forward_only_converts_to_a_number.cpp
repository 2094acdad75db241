// SPDX-License-Identifier: MIT
// EXPECT: forward-only: `forward` reads an element as a number
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
    float const first = p.weight(0);
    return x * first;
#else
    return x * slice(p.weight, range<0, 1>);
#endif
  }
};

auto main() -> int {
  static differentiation<own, tensor<float, shape<2, 4>>> pass;
  (void)pass;
}
