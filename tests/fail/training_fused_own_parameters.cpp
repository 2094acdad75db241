// SPDX-License-Identifier: MIT
// EXPECT: this layer reads parameters after it added to their gradient
// EXPECT: at_position<1>
// LINES: 8
#include <tessera/tessera.hpp>

using namespace tessera;

/// y = scale·child(x), whose scale run_back reads last.
template <class Child, bool ReadsFirst>
struct scaled : composition<scaled<Child, ReadsFirst>, Child> {
  template <class Storage> struct own {
    tensor_in<Storage, shape<1>> scale;
    TESSERA_PARAMETERS(scale)
  };
  template <class S> using output_shape = S;
  template <class X, class Call> using values = type_list<buffer_between<X, 0, 0, true>>;
  template <class X, class Call> using slopes_between = type_list<buffer_between<X, 0, 0>>;
  static constexpr auto backward_reads = reads::input;
  static constexpr bool reads_own_first = ReadsFirst;

  static constexpr void run(auto inside, auto x, auto y) {
    auto const made = inside.template value<0>(x.actual);
    inside.template forward<0>(x, made);
    assign(y, made * inside.p.mine.scale(0));
  }
  static constexpr void run_back(auto inside, auto x, auto, auto dy, auto dx) {
    auto const made = inside.template value<0>(x.actual);
    auto const d = inside.template slope<0>(x.actual);
    if constexpr (ReadsFirst) assign(d, dy * inside.p.mine.scale(0));
    if (inside.gradient.mine.scale.data() != nullptr)
      inside.gradient.mine.scale(0) += evaluate(sum(dy * made)).values[0];
    if constexpr (not ReadsFirst) assign(d, dy * inside.p.mine.scale(0));
    inside.template backward<0>(x, made, as_const(d), dx);
  }
  static constexpr void initialize_own(auto& p, auto&) { p.scale = 2; }
};
template <bool ReadsFirst>
using model = sequential<linear<3, 4>, scaled<linear<4, 4>, ReadsFirst>, linear<4, 1>>;
using X = tensor<float, shape<2, 3>>;

template <class Training> auto one_step(Training& t) {
  static typename Training::output const y{};
  return t.step(X{}, y, mse{}, fused_gradient_descent{});
}

auto main() -> int {
  static training<model<true>, X, fused_gradient_descent> good;
  one_step(good);
#ifdef TESSERA_MUST_FAIL
  static training<model<false>, X, fused_gradient_descent> bad;
  one_step(bad);
#endif
}
