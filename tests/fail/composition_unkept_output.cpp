// SPDX-License-Identifier: MIT
// EXPECT: composition: the backward pass of a child reads an input or output that is not kept
// EXPECT: complaint::in<doubled<.*at_position<0>
#include <tessera/tessera.hpp>

using namespace tessera;
using X = tensor<float, shape<2, 4>>;

/// y = 2·f(x): y hides f(x), and the facts do not say that a backward pass reads it.
template <class F> struct doubled : composition<doubled<F>, F> {
  template <class S> using output_shape = tessera::output_shape<as_layer<F>, S>;
  static constexpr void run(auto inside, auto x, auto y) {
    inside.template forward<0>(x, y);
    assign(y, y + y);
  }
  static constexpr void run_back(auto inside, auto x, auto y, auto dy, auto dx) {
    inside.template backward<0>(x, y, dy, dx);
    if (dx.has_memory()) assign(dx.view, dx.view + dx.view);
  }
};

template <class Model> void run() {
  static differentiation<Model, X> pass;
  pass.backward(parameters_of<Model, owned<float>>{}, X{});
}

auto main() -> int {
  run<doubled<linear<4, 4>>>();
#ifdef TESSERA_MUST_FAIL
  run<doubled<tanh_layer>>();
#endif
}
