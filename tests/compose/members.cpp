// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/compose/members.hpp>

#include <string>

using namespace tessera;

namespace {
struct none {};
struct other {};
}  // namespace

static_assert(bytes_of<none> == 0 && bytes_of<int> == sizeof(int));
static_assert(std::is_empty_v<members<>> && std::is_empty_v<members<none, none, other>>);
static_assert(sizeof(members<none, double, none, none>) == sizeof(double),
              "no place for what is empty");
static_assert(std::same_as<item_of<1, type_list<int, char, none>>, char>);
static_assert(type_list<int, char>::size == 2 && members<none, int>::count == 2);

TEST_CASE("members: by index, of one block") {
  auto p = members<none, int, double, none, int>{};
  get<1>(p) = 3;
  get<2>(p) = 0.5;
  get<4>(p) = 4;
  auto const& q = p;
  CHECK(get<1>(q) == 3);
  CHECK(get<2>(q) == 0.5);
  CHECK(get<4>(q) == 4);
  static_assert(std::is_const_v<std::remove_reference_t<decltype(get<4>(q))>>);
  static_assert(std::same_as<decltype(get<0>(q)), none const&>, "an empty one is some object");
  CHECK(reinterpret_cast<std::byte*>(&get<4>(p)) + sizeof(int) <=
        reinterpret_cast<std::byte*>(&p) + sizeof p);
}
TEST_CASE("members: members inside of members of the same type keeps its own members") {
  auto p = members<members<int>, int>{};
  get<0>(get<0>(p)) = 1;
  get<1>(p) = 2;
  CHECK(get<0>(get<0>(p)) == 1);
}
TEST_CASE("members: indices in order") {
  auto seen = std::string{};
  for_each_index<4>([&]<std::size_t I>() { seen += std::to_string(I); });
  for_each_index<0>([&]<std::size_t>() { seen += "?"; });
  CHECK(seen == "0123");
}
