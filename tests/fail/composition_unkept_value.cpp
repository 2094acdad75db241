// SPDX-License-Identifier: MIT
// EXPECT: composition: the backward pass of a child reads an input or output that is not kept
// EXPECT: complaint::in<after<.*at_position<1>
#include <tessera/tessera.hpp>

using namespace tessera;
using X = tensor<float, shape<2, 4>>;

/// y = f(2·x), where 2·x is not kept.
template <class F> struct after : composition<after<F>, identity, F> {
  template <class S> using output_shape = tessera::output_shape<as_layer<F>, S>;
  template <class X, class Call> using values = type_list<buffer_between<X, 0, 1>>;
  template <class X, class Call> using slopes_between = type_list<buffer_between<X, 0, 1>>;
  static constexpr auto backward_reads = reads::output;
  static constexpr void run(auto inside, auto x, auto y) {
    auto const twice = inside.template value<0>(x.actual);
    assign(twice, x + x);
    inside.template forward<1>(as_const(twice), y);
  }
  static constexpr void run_back(auto inside, auto x, auto y, auto dy, auto dx) {
    auto const d = inside.template slope<0>(x.actual);
    inside.template backward<1>(inside.template value<0>(x.actual), y, dy, writes(d));
    dx.put(d + d);
  }
};

template <class Model> void run() {
  static differentiation<Model, X> pass;
  pass.backward(parameters_of<Model, owned<float>>{}, X{});
}

auto main() -> int {
  run<after<tanh_layer>>();
#ifdef TESSERA_MUST_FAIL
  run<after<linear<4, 4>>>();
#endif
}
