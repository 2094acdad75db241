// SPDX-License-Identifier: MIT
// EXPECT: streaming: this forward-only layer counts axes from the front
// EXPECT: complaint::in<mean_taken_away>
// LINES: 16
#include <tessera/tessera.hpp>

using namespace tessera;
/// A layer of a user's, forward only.
struct mean_taken_away {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<4>> weight;
    TESSERA_PARAMETERS(weight)
  };
  static constexpr auto forward(auto const& p, auto x) {
#ifdef TESSERA_MUST_FAIL
    return (x - mean(x, axis<1>, keepdims)) * p.weight;
#else
    return (x - mean(x, axis<-1>, keepdims)) * p.weight;
#endif
  }
};

auto main() -> int {
  static constexpr parameters_of<mean_taken_away, owned<float>> p{};
  static streaming<mean_taken_away, tensor<float, shape<2, 4>>> stream;
  stream.step(p, tensor<float, shape<2, 4>>{});
}
