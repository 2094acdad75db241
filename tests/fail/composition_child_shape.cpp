// SPDX-License-Identifier: MIT
// EXPECT: composition: a child gives another shape than there is memory for
// LINES: 14 26
#include <tessera/tessera.hpp>

using namespace tessera;
using X = tensor<float, shape<2, 4>>;

/// Names the shape of x as its own, whatever its child makes of it.
template <class F> struct twice : composition<twice<F>, F> {
  template <class S> using output_shape = S;
  static constexpr void run(auto inside, auto x, auto y) { inside.template forward<0>(x, y); }
  static constexpr void run_back(auto inside, auto x, auto y, auto dy, auto dx) {
    inside.template backward<0>(x, y, dy, dx);
  }
};

auto main() -> int {
#ifdef TESSERA_MUST_FAIL
  using model = twice<linear<4, 5>>;
#else
  using model = twice<linear<4, 4>>;
#endif
  static inference<model, X> run;
  static parameters_of<model, owned<float>> p;
  (void)run(p, X{});
}
