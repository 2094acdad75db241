// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/compose/slope.hpp>

using namespace tessera;
using X = tensor<float, shape<at_most(3), 2>>;

static_assert(not decltype(writes(view_of<X>{}))::adds && decltype(adds_to(view_of<X>{}))::adds);

TEST_CASE("slope: what writes leaves an expression, what adds joins it to what is there") {
  auto memory = X{};
  auto const there = memory.sized(2);
  assign(there, 1.0F);
  writes(there).put(there + 1.0F);
  CHECK(test::distance(there, {2, 2, 2, 2}) == 0);
  adds_to(there).put(there * 2.0F);
  CHECK(test::distance(there, {6, 6, 6, 6}) == 0);
  writes(there).again().put(there);
  CHECK(test::distance(there, {12, 12, 12, 12}) == 0);
  CHECK(memory.values[4] == 0);
}
TEST_CASE("slope: what has no memory is not wanted, and nothing is written") {
  auto memory = X{};
  auto const x = memory.sized(2);
  auto const nobody = without_memory<X>(x.actual);
  CHECK_FALSE(writes(nobody).has_memory());
  CHECK_FALSE(adds_to(nobody).has_memory());
  CHECK(writes(nobody).size() == 4);
  CHECK_NOTHROW(writes(nobody).put(x + 1.0F));
  CHECK_NOTHROW(adds_to(nobody).put(x + 1.0F));
  CHECK(writes(x).data() == memory.data());
}
