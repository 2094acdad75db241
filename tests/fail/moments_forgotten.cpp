// SPDX-License-Identifier: MIT
// EXPECT: moments: a member is not named in TESSERA_PARAMETERS
// LINES: 12
#include <tessera/optim/moments.hpp>

#include <optional>

using namespace tessera;
template <class P> struct good {
  P average;
  double steps;
  TESSERA_PARAMETERS(average, steps)
};
template <class P> struct bad {
  P average;
  std::uint32_t steps;
  TESSERA_PARAMETERS(average)
};
using numbers = tensor<float, shape<3>>;

auto main() -> int {
  auto const print = [](path_name const&, auto&) {};
  static good<numbers> right;
  for_each_moment(right, print);
#ifdef TESSERA_MUST_FAIL
  static bad<numbers> wrong;
  for_each_moment(wrong, print);
#endif
}
