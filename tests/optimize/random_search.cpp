// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/optimize/random_search.hpp>

using namespace tessera;

TEST_CASE("random_search: by seed and number alone, equal over the space") {
  auto const space = search_space{}
                         .uniform("x", 2, 4)
                         .log_uniform("rate", 1e-4, 1)
                         .integer("n", 1, 4)
                         .choice("kind", {"a", "b"});
  auto const propose = [&](std::uint64_t number) {
    auto random = draws(9, number);
    return random_search{}.propose({space, {}}, random);
  };
  CHECK(propose(7) == propose(7));
  CHECK(propose(7) != propose(8));
  auto counts = std::map<std::string, int>{};
  constexpr auto n = 4000;
  for (auto i = std::uint64_t{0}; i < n; ++i) {
    auto const point = propose(i);
    CHECK_NOTHROW(space.coordinates(point));
    counts["x below 3"] += number_of(point, "x") < 3 ? 1 : 0;
    counts["rate below 0.01"] += number_of(point, "rate") < 0.01 ? 1 : 0;
    counts["n is 1"] += whole_of(point, "n") == 1 ? 2 : 0;
    counts["n is 4"] += whole_of(point, "n") == 4 ? 2 : 0;
    counts["kind a"] += choice_of(point, "kind") == "a" ? 1 : 0;
  }
  for (auto const& [what, count] : counts) {
    CAPTURE(what);
    CHECK(count == Approx(n / 2.0).epsilon(0.08));
  }
}
