// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/text/conversation.hpp>

#include <stdexcept>

using namespace tessera;

TEST_CASE("conversation: the fewest of the oldest exchanges leave, and what is around them stays") {
  auto const messages = std::vector<int>{100, 1, 1, 2, 2, 3, 3, 200};
  auto const at_most = [&](int most) {
    return without_oldest(messages, 1, 3, [&](std::vector<int> const& rest) {
      auto sum = 0;
      for (auto const one : rest) sum += one;
      return sum <= most;
    });
  };
  CHECK(at_most(312) == messages);
  CHECK(at_most(311) == std::vector{100, 2, 2, 3, 3, 200});
  CHECK(at_most(310) == std::vector{100, 2, 2, 3, 3, 200});
  CHECK(at_most(309) == std::vector{100, 3, 3, 200});
  CHECK(at_most(300) == std::vector{100, 200});
  CHECK(at_most(0) == std::vector{100, 200});
}
TEST_CASE("conversation: without exchanges nothing leaves, and nobody is asked") {
  auto const messages = std::vector<int>{1, 2};
  auto const never = [](auto const&) -> bool { throw std::logic_error("asked"); };
  CHECK(without_oldest(messages, 1, 0, never) == messages);
}
TEST_CASE("conversation: where all fits it is asked for once") {
  auto const messages = std::vector<int>(65, 1);
  auto calls = 0;
  auto const rest = without_oldest(messages, 1, 32, [&](auto const&) { return ++calls > 0; });
  CHECK(rest == messages);
  CHECK(calls == 1);
}
