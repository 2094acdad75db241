// SPDX-License-Identifier: MIT
// EXPECT: a layer does not say what the contract of layers asks for
// EXPECT: at_position<>, tessera::complaint::in<doubled>, tessera::complaint::step_p_x_y_m>
// LINES: 8
#include <tessera/compose/objects.hpp>
#include <tessera/tensor/assign.hpp>

using namespace tessera;
using X = tensor<float, shape<5, 3>>;

struct doubled : without_parameters, any_shape {
  static constexpr auto about = facts{.streams = true};
#ifdef TESSERA_MUST_FAIL
  static constexpr void stepp(auto const& p, auto x, auto y, auto m) { forward(p, x, y, m); }
#else
  static constexpr void step(auto const& p, auto x, auto y, auto m) { forward(p, x, y, m); }
#endif
  static constexpr void forward(auto const&, auto x, auto y, auto) { assign(y, x + x); }
  static constexpr void backward(auto const&, auto, auto, auto dy, auto dx, auto&, auto) {
    dx.put(dy + dy);
  }
};

auto main() -> int {
  static streaming<doubled, X> run;
  (void)run;
}
