// SPDX-License-Identifier: MIT
// EXPECT: 'tessera::facts' has no .* named 'streem'|'streem' does not refer to any .* 'facts'
// LINES: 8
#include <tessera/compose/objects.hpp>
#include <tessera/tensor/assign.hpp>

using namespace tessera;
using X = tensor<float, shape<5, 3>>;

struct doubled : without_parameters, any_shape {
#ifdef TESSERA_MUST_FAIL
  static constexpr auto about = facts{.row_wise = true, .streem = true};
#else
  static constexpr auto about = facts{.row_wise = true, .streams = true};
#endif
  static constexpr void forward(auto const&, auto x, auto y, auto) { assign(y, x + x); }
  static constexpr void backward(auto const&, auto, auto, auto dy, auto dx, auto&, auto) {
    dx.put(dy + dy);
  }
};

auto main() -> int {
  static inference<doubled, X> run;
  (void)run;
}
