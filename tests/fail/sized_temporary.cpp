// SPDX-License-Identifier: MIT
// EXPECT: delete
// LINES: 13
#include <tessera/tensor/tensor.hpp>

using namespace tessera;

[[maybe_unused]] static auto make() { return tensor<float, shape<3>>{{1, 2, 3}}; }
[[maybe_unused]] static auto matrix() { return tensor<float, shape<2, 3>>{}; }
[[maybe_unused]] static auto bounded() { return tensor<float, shape<at_most(3)>>{}; }

auto main() -> int {
#ifdef TESSERA_MUST_FAIL
  auto const v = bounded().sized(3);
#else
  auto const x = bounded();
  auto const v = x.sized(3);
#endif
  return v.size() == 3 ? 0 : 1;
}
