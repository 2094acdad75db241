// SPDX-License-Identifier: MIT
#include <support/test.hpp>
#include <tessera/core/clear.hpp>

#include <sys/resource.h>

using namespace tessera;

namespace {

struct large {
  int numbers[64 << 20];
  int one = 1;
};
constexpr auto cleared() -> int {
  struct small {
    int zero;
    int two = 2;
  };
  auto s = small{.zero = 7, .two = 7};
  clear(s);
  return 10 * s.zero + s.two;
}
static_assert(cleared() == 2, "members are what their initializers say");

}  // namespace

TEST_CASE("clear: an object larger than the stack, in place") {
  auto limit = rlimit{};
  REQUIRE(getrlimit(RLIMIT_STACK, &limit) == 0);
  REQUIRE((limit.rlim_cur == RLIM_INFINITY || sizeof(large) > limit.rlim_cur));
  auto const object = std::make_unique<large>();
  object->numbers[0] = object->numbers[(64 << 20) - 1] = object->one = 5;
  clear(*object);
  CHECK(object->numbers[0] == 0);
  CHECK(object->numbers[(64 << 20) - 1] == 0);
  CHECK(object->one == 1);
}
