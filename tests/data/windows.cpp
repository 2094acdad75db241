// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/data/windows.hpp>

#include <set>

using namespace tessera;

TEST_CASE("windows: they lie within their parts, in order") {
  auto const w = windows({{0, 0, 10}, {1, 5, 12}, {2, 0, 3}}, 4, 2);
  auto all = std::vector<recording_part>{};
  for (auto i = std::size_t{0}; i < w.size(); ++i) all.push_back(w[i]);
  CHECK(all == std::vector<recording_part>{
                   {0, 0, 4}, {0, 2, 6}, {0, 4, 8}, {0, 6, 10}, {1, 5, 9}, {1, 7, 11}});
  CHECK(windows({{0, 0, 10000}, {1, 0, 10000}, {2, 0, 10000}, {3, 0, 10000}}, 50).size() == 39804);
  CHECK(windows({{0, 0, 3}}, 4).size() == 0);
}
TEST_CASE("windows: a part held out shares no sample with what is left") {
  auto const [kept, held] = hold_out({{0, 0, 100}, {1, 50, 100}}, 0.1);
  CHECK(kept == std::vector<recording_part>{{0, 0, 90}, {1, 50, 95}});
  CHECK(held == std::vector<recording_part>{{0, 90, 100}, {1, 95, 100}});
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
  CHECK(hold_out({{0, 0, 0}}, 0.5).second.empty());
}
TEST_CASE("windows: a share of a part is what its digits say") {
  for (auto hundredths = std::size_t{0}; hundredths < 100; ++hundredths)
    for (auto const n : {1UL, 7UL, 100UL, 700UL, 12'345UL, 1'000'000'000'000UL}) {
      auto const share = static_cast<double>(hundredths) / 100;
      CHECK(hold_out({{0, 0, n}}, share).first.front().end == n - n * hundredths / 100);
    }
  CHECK(hold_out({{0, 0, 100}}, 0.2899).second.front().length() == 28);
}
TEST_CASE("windows: impossible numbers are refused") {
  CHECK_THROWS_WITH(windows({{0, 0, 3}}, 0), Catch::Contains("length of at least 1, got 0"));
  CHECK_THROWS_WITH(windows({{0, 0, 3}}, 1, 0), Catch::Contains("stride of at least 1, got 0"));
  CHECK_THROWS_AS(hold_out({}, 1.0), std::invalid_argument);
  CHECK_THROWS_AS(hold_out({}, -0.1), std::invalid_argument);
}
TEST_CASE("windows: every part's own, empty parts among them, wherever they stand") {
  auto parts = std::vector<recording_part>{{9, 0, 2}};
  for (auto r = std::size_t{0}; r < 200; ++r) parts.push_back({r, r, r + r % 7});
  parts.push_back({9, 5, 5});
  auto const w = windows(parts, 3);
  auto i = std::size_t{0};
  for (auto const& p : parts)
    for (auto begin = p.begin; begin + 3 <= p.end; ++begin)
      REQUIRE(w[i++] == recording_part{p.recording, begin, begin + 3});
  CHECK(i == w.size());
  CHECK_THROWS_AS(w[w.size()], std::out_of_range);
  CHECK_THROWS_AS(windows{}[0], std::out_of_range);
}
TEST_CASE("windows: parts that cannot be are refused by their numbers") {
  CHECK_THROWS_WITH(windows({{0, 50, 10}}, 8),
                    "windows: a part begins at sample 50 and ends at 10");
  CHECK_THROWS_WITH(hold_out({{0, 50, 10}}, 0.1), Catch::Contains("begins at sample 50"));
  constexpr auto most = static_cast<std::size_t>(-1);
  CHECK_THROWS_WITH(windows({{0, 0, most}, {1, 0, most}}, 1), Catch::Contains("can be counted"));
  auto const length_of = [](std::size_t recording) { return recording == 0 ? 90U : 20U; };
  CHECK_NOTHROW(check_parts({{0, 0, 90}, {1, 3, 20}}, 2, length_of));
  CHECK_THROWS_WITH(check_parts({{7, 0, 90}}, 2, length_of),
                    "check_parts: a part is of recording 7, counted from 0 there are 2");
  CHECK_THROWS_WITH(check_parts({{1, 0, 21}}, 2, length_of),
                    "check_parts: a part ends at sample 21, recording 1 has 20");
  CHECK_THROWS_AS(check_parts({{0, 4, 3}}, 2, length_of), std::invalid_argument);
}
