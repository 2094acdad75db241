// SPDX-License-Identifier: MIT
// EXPECT: shape<2, 5>
// EXPECT: shape<2, 4>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;
/// A layer of a user's, forward only.
template <std::size_t N> struct shifted {
  template <class Storage> struct parameters {
    tensor_in<Storage, shape<N>> shift;
    TESSERA_PARAMETERS(shift)
  };
  template <class S> using expected_shape = with_last<S, N>;
  static constexpr auto forward(auto const& p, auto x) { return x + p.shift; }
};
using X = tensor<float, shape<2, 4>>;

auto main() -> int {
  static inference<shifted<4>, X> good;
  (void)good;
#ifdef TESSERA_MUST_FAIL
  static inference<shifted<5>, X> bad;
  (void)bad;
#endif
}
