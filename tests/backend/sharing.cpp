// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/backend/sharing.hpp>

#include <cstddef>
#include <thread>

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
