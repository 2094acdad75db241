// SPDX-License-Identifier: MIT
// EXPECT: a layer does not say what the contract of layers asks for
// EXPECT: at_position<1>, tessera::complaint::in<doubled>, tessera::complaint::role::scratch>
// LINES: 8
#include <tessera/compose/objects.hpp>
#include <tessera/compose/sequential.hpp>
#include <tessera/tensor/assign.hpp>

using namespace tessera;
using X = tensor<float, shape<5, 3>>;

struct doubled : without_parameters, any_shape {
  static constexpr auto about = facts{.row_wise = true, .scratch = true};
#ifdef TESSERA_MUST_FAIL
  template <class X> struct scrach {
#else
  template <class X> struct scratch {
#endif
    X copy;
  };
  static constexpr void forward(auto const&, auto x, auto y, auto) { assign(y, x + x); }
  static constexpr void backward(auto const&, auto, auto, auto dy, auto dx, auto&, auto) {
    dx.put(dy + dy);
  }
};

struct same : without_parameters, any_shape {
  static constexpr auto about = facts{.row_wise = true};
  static constexpr void forward(auto const&, auto x, auto y, auto) { assign(y, x); }
  static constexpr void backward(auto const&, auto, auto, auto dy, auto dx, auto&, auto) {
    dx.put(dy);
  }
};

auto main() -> int {
  static inference<sequential<same, doubled>, X> run;
  (void)run;
}
