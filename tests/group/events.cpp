// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/group/events.hpp>

using namespace tessera;

static_assert(name_of(group_event_kind::tick) == "tick");
static_assert(name_of(group_verdict::late) == "late");
static_assert(name_of(agent_status::completed) == "completed");
static_assert(name_of(group_phase::ended) == "ended");
static_assert(name_of(group_cause::nobody_left) == "nobody_left");
static_assert(value_of<agent_status>("restarting") == agent_status::restarting);
static_assert(not value_of<agent_status>("sleeping"));

TEST_CASE("events: a view has the answer of a label") {
  auto const view =
      group_view{.version = 2, .answers = {{"agent1", "four", 0}, {"agent3", "five", 1}}};
  CHECK(view.answer_of("agent3") == "five");
  CHECK(view.answer_of("agent2").empty());
}
TEST_CASE("events: a view has the answers that came since another one") {
  auto const view = group_view{.version = 4, .answers = {{"agent1", "x", 3}, {"agent2", "y", 1}}};
  CHECK(view.since(0).size() == 2);
  CHECK(view.since(2) == std::vector<visible_answer>{{"agent1", "x", 3}});
  CHECK(view.since(4).empty());
}
