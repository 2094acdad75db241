// SPDX-License-Identifier: MIT
// EXPECT: 'about' is a private member of 'doubled'|about' is private within this context
// LINES: 26
#include <tessera/compose/objects.hpp>
#include <tessera/tensor/assign.hpp>

using namespace tessera;
using X = tensor<float, shape<5, 3>>;

struct doubled : without_parameters, any_shape {
  static constexpr void forward(auto const&, auto x, auto y, auto) { assign(y, x + x); }
  static constexpr void backward(auto const&, auto, auto, auto dy, auto dx, auto&, auto) {
    dx.put(dy + dy);
  }
#ifdef TESSERA_MUST_FAIL
 private:
#endif
  static constexpr auto about = facts{.row_wise = true};
};

auto main() -> int {
  static inference<doubled, X> run;
  (void)run;
}
