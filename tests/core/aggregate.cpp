// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/core/aggregate.hpp>

#include <string>
#include <vector>

using namespace tessera;

namespace {
struct none {};
struct inner {
  double a = 1;
  bool b = true;
};
struct several {
  std::string text = "t";
  inner nested = {};
  int numbers[3] = {};
  [[nodiscard]] auto sum() const -> int { return numbers[0]; }
};
struct mixed {
  std::string text = "t";
  inner nested = {};
  std::vector<int> many = {};
  unsigned last = 7;
};
struct eight {
  int a = 0, b = 1, c = 2, d = 3, e = 4, f = 5, g = 6, h = 7;
};
static_assert(fields_of<none> == 0 && fields_of<inner> == 2 && fields_of<mixed> == 4);
static_assert(fields_of<several> == 5, "an element of an array is a member");
}  // namespace

TEST_CASE("aggregate: its members in their order") {
  auto seen = std::string{};
  for_each_field(mixed{}, [&](auto const& member) {
    using T = std::remove_cvref_t<decltype(member)>;
    if constexpr (std::is_same_v<T, std::string>) seen += member;
    if constexpr (std::is_same_v<T, inner>) seen += "i";
    if constexpr (std::is_same_v<T, unsigned>) seen += std::to_string(member);
  });
  CHECK(seen == "ti7");
  auto sum = 0;
  for_each_field(eight{}, [&](int n) { sum = 10 * sum + n; });
  CHECK(sum == 1234567);
  for_each_field(none{}, [&](int) { FAIL(); });
}
