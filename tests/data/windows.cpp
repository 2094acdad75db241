// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/data/windows.hpp>

#include <set>

using namespace tessera;

TEST_CASE("windows: they lie within their parts, in order") {
  auto const w = windows({{0, 0, 10}, {1, 5, 12}, {2, 0, 3}}, 4, 2);
  auto all = std::vector<part>{};
  for (auto i = std::size_t{0}; i < w.size(); ++i) all.push_back(w[i]);
  CHECK(all ==
        std::vector<part>{{0, 0, 4}, {0, 2, 6}, {0, 4, 8}, {0, 6, 10}, {1, 5, 9}, {1, 7, 11}});
  CHECK(windows({{0, 0, 10000}, {1, 0, 10000}, {2, 0, 10000}, {3, 0, 10000}}, 50).size() == 39804);
  CHECK(windows({{0, 0, 3}}, 4).size() == 0);
}
TEST_CASE("windows: a part held out shares no sample with what is left") {
  auto const [kept, held] = hold_out({{0, 0, 100}, {1, 50, 100}}, 0.1);
  CHECK(kept == std::vector<part>{{0, 0, 90}, {1, 50, 95}});
  CHECK(held == std::vector<part>{{0, 90, 100}, {1, 95, 100}});
  auto seen = std::set<std::pair<std::size_t, std::size_t>>{};
  auto const training = windows(kept, 3);
  for (auto i = std::size_t{0}; i < training.size(); ++i)
    for (auto n = training[i].begin; n < training[i].end; ++n)
      seen.insert({training[i].recording, n});
  auto const validation = windows(held, 3);
  CHECK(validation.size() > 0);
  for (auto i = std::size_t{0}; i < validation.size(); ++i)
    for (auto n = validation[i].begin; n < validation[i].end; ++n)
      CHECK_FALSE(seen.contains({validation[i].recording, n}));
  CHECK(hold_out({{0, 0, 100}}, 0).second.empty());
}
TEST_CASE("windows: impossible numbers are refused") {
  CHECK_THROWS_WITH(windows({{0, 0, 3}}, 0), Catch::Contains("length of at least 1, got 0"));
  CHECK_THROWS_WITH(windows({{0, 0, 3}}, 1, 0), Catch::Contains("stride of at least 1, got 0"));
  CHECK_THROWS_AS(hold_out({}, 1.0), std::invalid_argument);
  CHECK_THROWS_AS(hold_out({}, -0.1), std::invalid_argument);
}
