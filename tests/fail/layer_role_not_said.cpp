// SPDX-License-Identifier: MIT
// EXPECT: a layer does not say what the contract of layers asks for
// EXPECT: at_position<>, tessera::complaint::in<doubled>, tessera::complaint::role::kept>
// LINES: 8
#include <tessera/compose/objects.hpp>
#include <tessera/tensor/assign.hpp>

using namespace tessera;
using X = tensor<float, shape<5, 3>>;

struct doubled : without_parameters, any_shape {
#ifdef TESSERA_MUST_FAIL
  static constexpr auto about = facts{.row_wise = true};
#else
  static constexpr auto about = facts{.row_wise = true, .kept = true};
#endif
  template <class X> struct kept {
    X copy;
  };
  static constexpr void forward(auto const&, auto x, auto y, auto) { assign(y, x + x); }
  static constexpr void backward(auto const&, auto, auto, auto dy, auto dx, auto&, auto) {
    dx.put(dy + dy);
  }
};

auto main() -> int {
  static differentiation<doubled, X> run;
  (void)run;
}
