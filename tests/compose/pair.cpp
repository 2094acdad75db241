// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/compose/named.hpp>
#include <tessera/compose/pair.hpp>

using namespace tessera;

TEST_CASE("pair: two parts are called by their names, or 0 and 1") {
  using storage = owned<float>;
  auto p = detail::pair_of_parameters<parameters_of<linear<1, 1>, storage>,
                                      parameters_of<named<"other", linear<1, 1>>, storage>>{};
  auto names = std::vector<std::string>{};
  for_each_parameter([&](name const& path, auto&) { names.emplace_back(path.c_str()); }, p);
  CHECK(names == std::vector<std::string>{"0.weight", "0.bias", "other.weight", "other.bias"});
}
TEST_CASE("pair: of what is lent each gets its part, and nothing where there is nothing") {
  auto state = detail::pair_of<int, double>{1, 2.5};
  auto none = nothing{};
  CHECK(&detail::first_of_pair(state) == &state.first);
  CHECK(&detail::second_of_pair(state) == &state.second);
  CHECK(&detail::first_of_pair(none) == &none);
  static_assert(sizeof(detail::pair_of<nothing, double>) == sizeof(double));
}
