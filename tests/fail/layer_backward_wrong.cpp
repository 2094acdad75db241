// SPDX-License-Identifier: MIT
// EXPECT: a layer does not say what the contract of layers asks for
// EXPECT: in<doubled>, tessera::complaint::backward_p_x_y_dy_dx_gradient_m>
// LINES: 8
#include <tessera/compose/objects.hpp>
#include <tessera/tensor/assign.hpp>

using namespace tessera;
using X = tensor<float, shape<5, 3>>;

struct doubled : without_parameters, any_shape {
  static constexpr auto about = facts{.row_wise = true};
  static constexpr void forward(auto const&, auto x, auto y, auto) { assign(y, x + x); }
#ifdef TESSERA_MUST_FAIL
  static constexpr void backward(auto const&, auto, auto dy, auto dx, auto&, auto){
#else
  static constexpr void backward(auto const&, auto, auto, auto dy, auto dx, auto&, auto) {
#endif
      dx.put(dy + dy);
}
}
;

auto main() -> int {
  static differentiation<doubled, X> run;
  (void)run;
}
