// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/compose/inner_lanes.hpp>

using namespace tessera;

namespace {

static_assert(not detail::bounds_inner_lanes<shape<at_most(4), 8>>);
static_assert(not detail::bounds_inner_lanes<shape<at_most(4), 2, 8>>);
static_assert(not detail::bounds_inner_lanes<shape<2, at_most(8)>>, "these are features");
static_assert(detail::bounds_inner_lanes<shape<4, at_most(2), 8>>);

using sample = shape<at_most(4), at_most(2), 3, at_most(5), 8>;
using window = shape<at_most(9), at_most(4), at_most(2), 3, at_most(5), 8>;

struct any_state {
  float h[4];
};
static_assert(std::same_as<detail::with_inner_lanes<any_state, shape<at_most(4), 8>>, any_state>);
static_assert(std::derived_from<detail::with_inner_lanes<any_state, sample>, any_state>);

}  // namespace

TEST_CASE("inner_lanes: axes behind the first stay as they began") {
  auto lanes = detail::inner_lanes<sample>{};
  lanes.go_on(actual_extents<sample>{{{0, 1, 1}}});  // no lane: nothing begins
  lanes.go_on(actual_extents<sample>{{{3, 2, 4}}});
  lanes.go_on(actual_extents<sample>{{{2, 2, 4}}});
  lanes.go_on(actual_extents<window>{{{7, 1, 2, 4}}});
  auto const message =
      "a state goes on with as many lanes behind their first axis as it began with";
  CHECK_THROWS_WITH(lanes.go_on(actual_extents<sample>{{{2, 1, 4}}}), message);
  CHECK_THROWS_WITH(lanes.go_on(actual_extents<window>{{{7, 2, 2, 5}}}), message);
  lanes.go_on(actual_extents<window>{{{0, 2, 1, 5}}});
  lanes.go_on(actual_extents<sample>{{{4, 2, 4}}});
}
