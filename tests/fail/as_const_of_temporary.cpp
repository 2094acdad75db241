// SPDX-License-Identifier: MIT
// EXPECT: delete
// LINES: 16
#include <tessera/tensor/tensor.hpp>

using namespace tessera;

[[maybe_unused]] static auto make() { return tensor<float, shape<3>>{{1, 2, 3}}; }
[[maybe_unused]] static auto matrix() { return tensor<float, shape<2, 3>>{}; }
[[maybe_unused]] static auto bounded() { return tensor<float, shape<at_most(3)>>{}; }

auto main() -> int {
#ifdef TESSERA_MUST_FAIL
  auto const v = as_const(make());
#else
  auto const x = make();
  auto const v = as_const(x);
#endif
  return v.size() == 3 ? 0 : 1;
}
