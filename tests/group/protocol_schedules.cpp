// SPDX-License-Identifier: MIT
#include <support/catch.hpp>

#include "schedule.hpp"

using namespace tessera;

namespace {

/// A fiftieth where every step is checked by a sanitizer.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr auto schedules = 2'000U;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr auto schedules = 2'000U;
#else
constexpr auto schedules = 100'000U;
#endif
#else
constexpr auto schedules = 100'000U;
#endif

/// How often each end came.
struct counts {
  std::size_t by_votes = 0, alone = 0, by_time = 0, nobody_left = 0;
  std::size_t without_winner = 0, presented = 0, stale = 0, refused = 0, late = 0, events = 0;

  void add(group_protocol const& group, std::vector<group_reaction> const& reactions) {
    auto const& outcome = group.outcome();
    by_votes += outcome.cause == group_cause::votes ? 1 : 0;
    alone += outcome.cause == group_cause::alone ? 1 : 0;
    by_time += outcome.cause == group_cause::time_limit ? 1 : 0;
    nobody_left += outcome.cause == group_cause::nobody_left ? 1 : 0;
    without_winner += outcome.winner ? 0 : 1;
    presented += outcome.presented ? 1 : 0;
    for (auto const& one : reactions) {
      stale += one.verdict == group_verdict::stale ? 1 : 0;
      refused += one.verdict == group_verdict::refused ? 1 : 0;
      late += one.verdict == group_verdict::late ? 1 : 0;
    }
    events += reactions.size();
  }
};

}  // namespace

TEST_CASE("protocol: any schedule ends, by its rules at every event, and goes the same way again") {
  auto seen = counts{};
  for (auto seed = 0U; seed < schedules; ++seed) {
    INFO("seed " << seed);
    auto const went = test::random_agents(seed).run();
    auto again = group_protocol(went.ids, went.options);
    auto same = true;
    for (auto i = std::size_t{0}; i < went.events.size(); ++i) {
      auto const reaction = again.handle(went.events[i]);
      same = same && reaction.verdict == went.reactions[i].verdict &&
             reaction.commands == went.reactions[i].commands;
    }
    if (not same) FAIL("the same events, other commands");
    seen.add(again, went.reactions);
  }
  // Schedules that never come to a rule would show nothing of it.
  auto const least = schedules / 100;
  CAPTURE(seen.by_votes, seen.alone, seen.by_time, seen.nobody_left, seen.without_winner,
          seen.presented, seen.stale, seen.refused, seen.late);
  for (auto const count :
       {seen.by_votes, seen.alone, seen.by_time, seen.nobody_left, seen.without_winner,
        seen.presented, seen.stale, seen.refused, seen.late})
    CHECK(count >= least);
}
