// SPDX-License-Identifier: MIT
// EXPECT: delete
// LINES: 12
#include <tessera/tensor/tensor.hpp>

using namespace tessera;

[[maybe_unused]] static auto make() { return tensor<float, shape<3>>{{1, 2, 3}}; }
[[maybe_unused]] static auto matrix() { return tensor<float, shape<2, 3>>{}; }
[[maybe_unused]] static auto bounded() { return tensor<float, shape<at_most(3)>>{}; }

auto main() -> int {
#ifdef TESSERA_MUST_FAIL
  view<float const, shape<3>> const v = make();
#else
  auto const x = make();
  view<float const, shape<3>> const v = x;
#endif
  return v.size() == 3 ? 0 : 1;
}
