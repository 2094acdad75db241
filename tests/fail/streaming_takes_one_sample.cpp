// SPDX-License-Identifier: MIT
// EXPECT: streaming: this forward-only layer mixes the samples of a sequence
// EXPECT: complaint::in<first_taken_away>
// LINES: 16
#include <tessera/tessera.hpp>

using namespace tessera;
/// A layer of a user's, forward only.
struct first_taken_away {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<4>> weight;
    TESSERA_PARAMETERS(weight)
  };
  static constexpr auto forward(auto const& p, auto x) {
#ifdef TESSERA_MUST_FAIL
    return (x - slice(x, 0)) * p.weight;
#else
    return (x - mean(x, axis<-1>, keepdims)) * p.weight;
#endif
  }
};

auto main() -> int {
  static constexpr parameters_of<first_taken_away, owned<float>> p{};
  static streaming<first_taken_away, tensor<float, shape<2, 4>>> stream;
  stream.step(p, tensor<float, shape<2, 4>>{});
}
