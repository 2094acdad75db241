// SPDX-License-Identifier: MIT
// EXPECT: forward-only: `forward` computes a tensor of its own
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
    auto const h = kind_of<decltype(x)>(x * p.weight);
    return h * h;
#else
    auto const h = x * p.weight;
    return h * h;
#endif
  }
};

auto main() -> int {
  static differentiation<own, tensor<float, shape<2, 4>>> pass;
  (void)pass;
}
