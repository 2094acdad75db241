// SPDX-License-Identifier: MIT
// EXPECT: a layer does not say what the contract of layers asks for
// EXPECT: at_position<>, tessera::complaint::in<doubled>, tessera::complaint::expected_shape_of_s>
// LINES: 8
#include <tessera/compose/objects.hpp>
#include <tessera/tensor/assign.hpp>

using namespace tessera;
using X = tensor<float, shape<5, 3>>;

struct doubled : without_parameters {
  static constexpr auto about = facts{.row_wise = true};
#ifdef TESSERA_MUST_FAIL
  template <class S> using expected_shapes = S;
#else
  template <class S> using expected_shape = S;
#endif
  template <class S> using output_shape = S;
  static constexpr void forward(auto const&, auto x, auto y, auto) { assign(y, x + x); }
  static constexpr void backward(auto const&, auto, auto, auto dy, auto dx, auto&, auto) {
    dx.put(dy + dy);
  }
};

auto main() -> int {
  static inference<doubled, X> run;
  (void)run;
}
