// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/core/error.hpp>

using namespace tessera::complaint;

struct layer;
struct wanted;
struct given;
static_assert(shapes_match<in<layer>, expected<wanted>, got<wanted>>);
static_assert(not shapes_match<in<layer>, expected<wanted>, got<given>>);
using found = mismatch<at_position<2>, in<layer>, expected<wanted>, got<given>>;
static_assert(std::is_same_v<found::inside<1>,
                             mismatch<at_position<1, 2>, in<layer>, expected<wanted>, got<given>>>,
              "a path reads from outside to inside");
TEST_CASE("error: an answer about facts is the one that was given") {
  CHECK(holds<true, layer, wanted>);
  CHECK_FALSE(holds<false, layer, wanted>);
}
