// SPDX-License-Identifier: MIT
// A user's globals, then the library and a using-directive.
#include "core/config_globals.hpp"

// Locals of the library shadow globals that stand before it; compilers say so where its headers are
// no system headers.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#include <tessera/tessera.hpp>
#pragma GCC diagnostic pop

#include <catch2/catch.hpp>

using namespace tessera;

#include "core/config_globals_used.hpp"

TEST_CASE("config: a user's globals before the library are the user's") {
  CHECK(sum_of_globals() == 60 * 61 / 2);
  CHECK(types_are_the_users());
  CHECK(functions_are_the_users());
}

TEST_CASE("config: a model beside a user's globals") {
  auto const run_of =
      std::make_unique<inference<sequential<linear<2, 1>, tanh_layer>, tensor<float, shape<2>>>>();
  auto const p = parameters_of<sequential<linear<2, 1>, tanh_layer>, owned<float>>{};
  CHECK((*run_of)(p, tensor<float, shape<2>>{{1, 2}})(0) == 0);
}
