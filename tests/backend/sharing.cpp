// SPDX-License-Identifier: MIT
#include <support/backwards.hpp>
#include <tessera/backend/sharing.hpp>

#include <algorithm>
#include <cstddef>
#include <thread>
#include <vector>

using namespace tessera;

TEST_CASE("sharing: shares are a range without gaps, by whole units, no more than threads") {
  for (auto all = std::size_t{1}; all < 200; all += all < 40 ? 1 : 13)
    for (auto const unit : {1U, 6U, 64U})
      for (auto const most : {1U, 2U, 3U, 8U}) {
        auto const parts = detail::shares(all, unit, most);
        INFO(all << " by units of " << unit << " for " << most);
        CHECK(parts.count >= 1);
        CHECK(parts.count <= most);
        auto next = std::size_t{0};
        for (auto i = std::size_t{0}; i < parts.count; ++i) {
          CHECK(parts[i].first == next);
          CHECK(parts[i].first % unit == 0);
          CHECK(parts[i].count >= (all < unit ? all : unit));
          CHECK((i + 1 == parts.count || parts[i].count % unit == 0));
          next += parts[i].count;
        }
        CHECK(next == all);
        CHECK(parts[0].count <= (all / most / unit + 2) * unit);
      }
}
TEST_CASE("sharing: a thread works alone until it is told otherwise") {
  auto const* other = static_cast<detail::sharing_team const*>(nullptr);
  auto const team = detail::sharing_team{};
  detail::current_team = &team;
  std::thread([&] { other = detail::current_team; }).join();
  CHECK(other == nullptr);
  CHECK(detail::current_team == &team);
  detail::current_team = nullptr;
}
TEST_CASE("sharing: many numbers are shared, by whole units, and few are not") {
  auto const ranges = [](std::size_t things, std::size_t unit, std::size_t each) {
    auto seen = std::vector<std::size_t>(things);
    detail::in_shares_of(things, unit, each, [&](detail::share const& part) {
      CHECK(part.first % unit == 0);
      for (auto i = std::size_t{0}; i < part.count; ++i) ++seen[part.first + i];
    });
    CHECK(std::ranges::all_of(seen, [](std::size_t times) { return times == 1; }));
  };
  ranges(100'000, 64, 1);  // no team
  auto const team = test::backwards(3);
  ranges(65'535, 64, 1);
  CHECK(team.tasks == 0);
  ranges(65'536, 64, 1);
  CHECK(team.tasks == 2);
  ranges(100'001, 64, 1);
  CHECK(team.tasks == 5);
  ranges(7, 1, 100'000);
  CHECK(team.tasks == 8);
  ranges(0, 64, 1);
  ranges(1, 1, 1'000'000);  // one thing is one part
  CHECK(team.tasks == 9);
}
