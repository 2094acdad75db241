// SPDX-License-Identifier: MIT
#include <support/catch.hpp>
#include <tessera/group/protocol.hpp>

using namespace tessera;
using Catch::Contains;

namespace {

using kinds = std::vector<group_command_kind>;
using enum group_command_kind;

/// A group whose agents do what the test says.
struct scripted : group_protocol {
  explicit scripted(std::vector<std::string> const& ids, group_options options = {})
      : group_protocol(ids, std::move(options)) {
    last = handle({.kind = group_event_kind::begin, .time = group_time{1000}});
  }
  auto does(std::size_t agent, group_event_kind kind, std::string text = {},
            std::string target = {}) -> kinds {
    return goes({.kind = kind,
                 .agent = agent,
                 .round = round(agent),
                 .target = std::move(target),
                 .text = std::move(text)});
  }
  auto goes(group_event const& event) -> kinds {
    last = handle(event);
    auto result = kinds{};
    for (auto const& one : last.commands) result.push_back(one.kind);
    return result;
  }
  auto answers(std::size_t agent, std::string text) -> kinds {
    return does(agent, group_event_kind::answer, std::move(text));
  }
  auto votes(std::size_t agent, std::string target) -> kinds {
    return does(agent, group_event_kind::vote, "it is right", std::move(target));
  }
  void sees(std::size_t agent) {
    (void)goes(
        {.kind = group_event_kind::seen, .agent = agent, .round = round(agent), .view = version()});
  }
  void all_see() {
    for (auto i = std::size_t{0}; i < size(); ++i) sees(i);
  }

  group_reaction last;
};

}  // namespace

TEST_CASE("protocol: answers, votes, and the winner presents") {
  auto group = scripted({"bob", "ada", "cyd"});
  REQUIRE(group.last.commands.size() == 3);
  CHECK(group.last.commands[1] == group_command{.kind = start, .agent = 1, .round = 1});
  CHECK(group.label(0) == "agent2");
  CHECK(group.label(1) == "agent1");

  // A new answer: who runs is told, its author begins a round.
  CHECK(group.answers(1, " it is four\n") == kinds{inject, start, inject});
  CHECK(group.last.commands[0].view ==
        group_view{.version = 1, .answers = {{"agent1", "it is four", 0}}, .may_vote = true});
  CHECK(group.status(0) == agent_status::restarting);
  CHECK(group.status(1) == agent_status::answered);
  group.all_see();
  CHECK(group.status(1) == agent_status::waiting);
  CHECK(group.votes(1, "agent1").empty());
  CHECK(group.votes(2, "agent1").empty());
  CHECK(group.tally() == std::vector<std::size_t>{0, 2, 0});

  // Another one: the votes are void, and who has voted begins anew.
  CHECK(group.answers(0, "or rather five, by another way of counting") ==
        kinds{start, start, start});
  CHECK(group.tally() == std::vector<std::size_t>{0, 0, 0});
  CHECK(group.last.commands[2].view.answers.size() == 2);
  CHECK(group.last.commands[2].view.since(1).at(0).agent == "agent2");
  CHECK(group.status(2) == agent_status::restarting);
  group.all_see();
  (void)group.votes(0, "agent2");
  (void)group.votes(1, "agent1");
  CHECK(group.votes(2, "agent2") == kinds{present});
  CHECK(group.phase() == group_phase::presenting);
  auto const& view = group.last.commands[0].view;
  CHECK(view.answers.size() == 2);
  CHECK(view.votes == std::vector<visible_vote>{{"agent1", "agent1", "it is right"},
                                                {"agent2", "agent2", "it is right"},
                                                {"agent3", "agent2", "it is right"}});
  CHECK(group.does(0, group_event_kind::presentation, "Five.") == kinds{end});
  CHECK(group.outcome() == group_outcome{group_cause::votes, 0, "Five.", true});
  CHECK(group.status(1) == agent_status::completed);
  CHECK(group.does(0, group_event_kind::presentation, "Six.").empty());
  CHECK(group.outcome().answer == "Five.");
}
TEST_CASE("protocol: equal votes go to who was registered first, not to who was first by id") {
  auto group = scripted({"zoe", "ada"});
  (void)group.answers(1, "one");
  group.all_see();
  (void)group.answers(0, "two");
  group.all_see();
  (void)group.votes(0, "agent1");
  CHECK(group.votes(1, "agent2") == kinds{present});
  CHECK(group.outcome().winner == 0);
}
TEST_CASE("protocol: a vote that was cast before its agent had the new answer does not count") {
  auto group = scripted({"a", "b"});
  (void)group.answers(0, "one");
  CHECK(group.votes(1, "agent1") == kinds{start});  // injected, and not yet there
  CHECK(group.last.verdict == group_verdict::stale);
  CHECK(group.tally() == std::vector<std::size_t>{0, 0});
  CHECK(group.votes(1, "agent1") == kinds{start});
  group.all_see();
  CHECK(group.votes(1, "agent1").empty());
  CHECK(group.last.verdict == group_verdict::taken);
  CHECK(group.vote_of(1) == 0);
}
TEST_CASE("protocol: a round has one action") {
  auto group = scripted({"a", "b"});
  (void)group.answers(0, "one");
  group.all_see();
  auto const round = group.round(1);
  (void)group.votes(1, "agent1");
  CHECK(group.goes({.kind = group_event_kind::answer, .agent = 1, .round = round, .text = "two"})
            .empty());
  CHECK(group.last.verdict == group_verdict::late);
  CHECK(group.goes({.kind = group_event_kind::answer, .agent = 0, .round = 1, .text = "two"})
            .empty());
  CHECK(group.version() == 1);
}
TEST_CASE("protocol: wrong actions are told what was wrong, and end their agent at the third") {
  auto group = scripted({"a", "b", "c"}, {.max_new_answers = 1});
  CHECK(group.votes(0, "agent1") == kinds{retry});
  CHECK_THAT(group.last.commands[0].text, Contains("no answers to vote for yet"));
  CHECK(group.answers(0, " \n") == kinds{retry});
  CHECK_THAT(group.last.commands[0].text, Contains("got no text"));
  (void)group.answers(0, "The sea is blue");
  group.all_see();
  CHECK(group.answers(0, "Of another color") == kinds{retry});
  CHECK_THAT(group.last.commands[0].text, Contains("expected a vote, got a new answer: 1"));
  CHECK_FALSE(group.last.commands[0].view.may_answer);
  CHECK(group.answers(1, "The sea is blue ") == kinds{retry});
  CHECK_THAT(group.last.commands[0].text, Contains("an exact copy of one of agent1"));
  CHECK(group.answers(1, "the SEA is blue, blue!") == kinds{retry});
  CHECK_THAT(group.last.commands[0].text, Contains("too little that one of agent1 does not say"));
  CHECK(group.votes(2, "agent2") == kinds{retry});
  CHECK_THAT(group.last.commands[0].text, Contains("one of agent1, got agent2"));
  CHECK(group.votes(2, "agent9") == kinds{retry});
  CHECK(group.does(2, group_event_kind::malformed, "two votes").empty());
  CHECK(group.status(2) == agent_status::error);
  CHECK_FALSE(group.alive(2));
  CHECK(group.votes(2, "agent1").empty());
  CHECK(group.tally()[0] == 0);
}
TEST_CASE("protocol: attempts begin anew with every round") {
  auto group = scripted({"a", "b"}, {.attempts = 2});
  CHECK(group.does(0, group_event_kind::malformed, "x") == kinds{retry});
  (void)group.answers(0, "one");
  CHECK(group.does(0, group_event_kind::malformed, "x") == kinds{retry});
  CHECK(group.alive(0));
}
TEST_CASE("protocol: how new an answer has to be") {
  auto strict = scripted({"a", "b"}, {.new_answers = {.most_similar = novelty::strict}});
  (void)strict.answers(0, "a b c d");
  CHECK(strict.answers(1, "a b c e") == kinds{retry});  // 3 of 5
  auto balanced = scripted({"a", "b"});
  (void)balanced.answers(0, "a b c d");
  CHECK(balanced.answers(1, "a b c e") == kinds{inject, start});
  auto lengths =
      novelty{.most_similar = 0.5, .similarity = [](std::string_view x, std::string_view y) {
                return x.size() == y.size() ? 1.0 : 0.0;
              }};
  auto by_function = scripted({"a", "b"}, {.new_answers = std::move(lengths)});
  (void)by_function.answers(0, "one");
  CHECK(by_function.answers(1, "two") == kinds{retry});
}
TEST_CASE("protocol: one agent alone answers, and that is the end") {
  auto group = scripted({"a"});
  CHECK(group.answers(0, "one") == kinds{end});
  CHECK(group.outcome() == group_outcome{group_cause::alone, 0, "one", false});

  auto left = scripted({"a", "b"});  // or the only one that is left
  (void)left.answers(1, "one");
  CHECK(left.does(0, group_event_kind::failure) == kinds{cancel, end});
  CHECK(left.outcome() == group_outcome{group_cause::alone, 1, "one", false});
}
TEST_CASE("protocol: who is left votes for the answer of one that was lost") {
  auto group = scripted({"a", "b"});
  (void)group.answers(0, "one");
  group.all_see();
  CHECK(group.does(0, group_event_kind::timeout) == kinds{cancel});
  CHECK(group.status(0) == agent_status::timeout);
  CHECK(group.votes(1, "agent1") == kinds{end});
  CHECK(group.outcome() == group_outcome{group_cause::votes, 0, "one", false});
}
TEST_CASE("protocol: without anybody left the first answer stands, or there is none") {
  auto group = scripted({"a", "b"});
  (void)group.answers(1, "one");
  (void)group.answers(0, "two");
  (void)group.does(1, group_event_kind::failure);
  CHECK(group.does(0, group_event_kind::failure) == kinds{end});
  CHECK(group.outcome() == group_outcome{group_cause::nobody_left, 1, "one", false});

  auto none = scripted({"a", "b"});
  (void)none.does(1, group_event_kind::failure);
  CHECK(none.does(0, group_event_kind::failure) == kinds{end});
  CHECK(none.outcome() == group_outcome{group_cause::nobody_left, std::nullopt, "", false});
}
TEST_CASE("protocol: at the time limit the best answer so far stands") {
  auto group = scripted({"a", "b", "c"}, {.time_limit = group_time{500}});
  (void)group.answers(0, "one");
  (void)group.answers(1, "two");
  group.all_see();
  (void)group.votes(2, "agent2");
  CHECK(group.goes({.time = group_time{1499}}).empty());
  CHECK(group.goes({.time = group_time{1500}}) == kinds{cancel, cancel, end});
  CHECK(group.outcome() == group_outcome{group_cause::time_limit, 1, "two", false});
  CHECK(group.status(0) == agent_status::timeout);
  CHECK(group.status(1) == agent_status::timeout);
  CHECK(group.status(2) == agent_status::completed);  // it had voted

  auto none = scripted({"a", "b"}, {.time_limit = group_time{500}});
  CHECK(none.goes({.kind = group_event_kind::answer,
                   .time = group_time{1500},
                   .round = 1,
                   .text = "too late"}) == kinds{cancel, cancel, end});
  CHECK(none.last.verdict == group_verdict::late);
  CHECK_FALSE(none.outcome().winner);
}
TEST_CASE("protocol: where the presenter fails, what it had answered stands") {
  for (auto const how : {group_event_kind::failure, group_event_kind::timeout,
                         group_event_kind::malformed, group_event_kind::presentation}) {
    auto group = scripted({"a", "b"});
    (void)group.answers(1, "one");
    group.all_see();
    (void)group.votes(0, "agent2");
    REQUIRE(group.votes(1, "agent2") == kinds{present});
    CHECK(group.does(1, how).back() == end);
    CHECK(group.outcome() == group_outcome{group_cause::votes, 1, "one", false});
  }
}
TEST_CASE("protocol: what cannot be a group is refused") {
  CHECK_THROWS_WITH(group_protocol({}, {}), Contains("at least one agent, got none"));
  CHECK_THROWS_WITH(group_protocol({"a", "b", "a"}, {}), Contains("two of a"));
  CHECK_THROWS_AS(group_protocol({"a"}, {.attempts = 0}), std::invalid_argument);
  CHECK_THROWS_AS(group_protocol({"a"}, {.time_limit = group_time{0}}), std::invalid_argument);
  auto group = group_protocol({"a"}, {});
  CHECK_THROWS_WITH(group.handle({.agent = 1}), Contains("one of 1 agents, got number 1"));
  CHECK(group.handle({}).verdict == group_verdict::late);
}
