// SPDX-License-Identifier: MIT
// EXPECT: settings: a member is std::string, std::uint64_t, double, or an optional of one
// LINES: 8 13
#include <tessera/program/detail/value.hpp>

using namespace tessera::detail;

auto main() -> int {
  static_assert(std::same_as<decided_value<std::optional<double>>, double>);
#ifdef TESSERA_MUST_FAIL
  auto const bad = decided_value<std::optional<int>>{};
  (void)bad;
#endif
}
