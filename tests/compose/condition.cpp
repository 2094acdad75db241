// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/compose/condition.hpp>

using namespace tessera;

TEST_CASE("condition: it goes along inside, with the context that it was given to") {
  using C = tensor<float, shape<at_most(3), 2>>;
  auto c = C{};
  auto slope = C{};
  auto const outer = random_context{.seed = 7, .step = 3};
  auto const context = given(c.sized(2), slope.sized(2), outer);
  static_assert(has_condition<decltype(context)> && not has_condition<random_context>);
  static_assert(std::same_as<condition_of<decltype(context)>, C>);
  auto const inner = context.inside(4).inside(1);
  CHECK(inner.condition.data() == c.data());
  CHECK(inner.condition.size() == 4);
  CHECK(inner.slope.data() == slope.data());
  CHECK(inner.seed == 7);
  CHECK(inner.path == outer.inside(4).inside(1).path);
  CHECK(inner.without_condition().path == inner.path);
  CHECK_FALSE(given(c.sized(2)).slope.has_memory());
}
